import * as z from 'zod';

const Texts = z.record(z.string(), z.string()).default({});

/**
 * What Alertmanager sends to a webhook, as far as it is printed
 * (https://prometheus.io/docs/alerting/latest/configuration/#webhook_config).
 */
const AlertMessage = z.object({
  alerts: z.array(z.object({ status: z.enum(['firing', 'resolved']), labels: Texts, annotations: Texts })),
  /** Alerts that were left out because of `max_alerts`. */
  truncatedAlerts: z.int().nonnegative().default(0),
});
export type AlertMessage = z.infer<typeof AlertMessage>;

/** The message, or the reason why the body is invalid. */
export function readAlertMessage(body: string): AlertMessage | string {
  let document: unknown;
  try {
    document = JSON.parse(body);
  } catch {
    return 'expected JSON';
  }
  const { data, error } = AlertMessage.safeParse(document);
  if (data) return data;
  const [issue] = error.issues;
  return [issue?.path.join('.'), issue?.message].filter(Boolean).join(': ');
}
