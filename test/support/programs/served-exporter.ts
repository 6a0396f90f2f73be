import type { Transport } from '../../../src/api/transport.ts';
import type { Outside } from '../../../src/exporter/client.ts';
import { Exporter, type ExporterOptions } from '../../../src/exporter/exporter.ts';
import { NO_DOCUMENTS } from '../../../src/exporter/state.ts';
import { logLines } from '../log/log-lines.ts';

/** Starts the exporter in this process. By default it keeps nothing, and a reload changes nothing. */
export function startInProcess(
  options: Pick<ExporterOptions, 'settings' | 'clock'> & Partial<ExporterOptions>,
): Promise<Exporter> {
  return Exporter.start({
    readAgain: async () => options.settings,
    log: logLines().log,
    documents: NO_DOCUMENTS,
    processMetrics: false,
    ...options,
  });
}

/** A network that this function stands for. */
export function sending(send: Transport): Outside {
  return { createTransport: () => ({ send, close: async () => undefined }), random: () => 0.5 };
}
