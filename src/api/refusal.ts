import { type ApiRequest, ENDPOINTS } from './endpoints.ts';
import { isFailure, RequestFailed } from './errors.ts';

/**
 * Whether the service refuses this request. A 400 of v2 means a mistake in the request, never a refusal. A 403 to many identifiers is no
 * refusal either, because the plan may allow fewer.
 */
export function isRefusal(
  failure: unknown,
  { mayBeTooLarge }: Pick<ApiRequest, 'mayBeTooLarge'> = {},
): failure is RequestFailed {
  if (!(failure instanceof RequestFailed)) return false;
  switch (failure.reason) {
    case 'forbidden':
      return !mayBeTooLarge;
    case 'method_not_allowed':
      return true;
    case 'not_found':
      return !isNoneFound(failure);
    case 'bad_request':
      return !ENDPOINTS[failure.endpoint].body;
    default:
      return false;
  }
}

/** Whether the path of a request may not exist. */
export function isUnknownPath(failure: unknown): failure is RequestFailed {
  return isFailure(failure, 'bad_request', 'forbidden', 'not_found', 'method_not_allowed', 'unexpected_status');
}

/** Whether the service has nothing of what a request names, which is as good as a response. */
export function isNoneFound(failure: unknown): failure is RequestFailed {
  return isFailure(failure, 'not_found') && ENDPOINTS[failure.endpoint].is404None === true;
}
