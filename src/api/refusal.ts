import { type ApiRequest, ENDPOINTS } from './endpoints.ts';
import { isFailure, RequestFailed } from './errors.ts';

/**
 * Whether the service refuses this request. A 400 of v2 is a mistake in the request, and never a refusal. A 403 is none if the
 * request has many identifiers, because the plan may take fewer.
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

/** Whether the service, or something in between, may not know the path of a request. */
export function isUnknownPath(failure: unknown): failure is RequestFailed {
  return isFailure(failure, 'bad_request', 'forbidden', 'not_found', 'method_not_allowed', 'unexpected_status');
}

/** Whether the service has none of what a request asks for, which is as good as an answer. */
export function isNoneFound(failure: unknown): failure is RequestFailed {
  return isFailure(failure, 'not_found') && ENDPOINTS[failure.endpoint].is404None === true;
}
