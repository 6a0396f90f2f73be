import { resolve } from 'node:path';
import { z } from 'zod';
import { keyPrefix, redisUrl, section, text } from './fields.ts';

export const DEFAULT_DIR = './beaconchain-exporter-state';

const file = text('the path of a file');

const Tls = section({
  ca_file: file.optional().describe("Certificates to trust instead of the system's."),
  cert_file: file.optional().describe('A client certificate, with key_file.'),
  key_file: file.optional().describe('The key of the client certificate.'),
  server_name: text('a host name')
    .optional()
    .describe('The name in the certificate, where it is not the host of the url.'),
})
  .meta({ dependencies: { cert_file: ['key_file'], key_file: ['cert_file'] } })
  .refine((tls) => (tls.cert_file === undefined) === (tls.key_file === undefined), {
    error: 'expected cert_file and key_file together',
  })
  .transform((tls) => ({
    caFile: tls.ca_file,
    certFile: tls.cert_file,
    keyFile: tls.key_file,
    serverName: tls.server_name,
  }));

const Redis = section({
  url: redisUrl.describe('Redis or Valkey; rediss:// is with TLS.'),
  password: z.string({ error: 'a password' }).optional().describe('Any characters. Or in the url, percent-encoded.'),
  prefix: keyPrefix.prefault('beaconchain').describe('What the names of its keys begin with: one for each API key.'),
  tls: Tls.optional().describe('Of a rediss:// url.'),
}).refine(({ url, tls }) => tls === undefined || url.startsWith('rediss:'), {
  error: 'tls is for a url that begins with rediss://',
});

export const State = section({
  dir: text('the path of a directory').optional().meta({
    description: 'A directory for one process. The default is in the working directory.',
    default: DEFAULT_DIR,
  }),
  redis: Redis.nullish().describe('Instead of dir, for replicas on one key. See docs/high-availability.md.'),
})
  .meta({ not: { type: 'object', required: ['dir', 'redis'], properties: { redis: { type: 'object' } } } })
  .refine(({ dir, redis }) => dir === undefined || !redis, { error: 'dir and redis are both there, expected only one' })
  .transform(({ dir = DEFAULT_DIR, redis }) => ({ dir: resolve(dir), redis: redis ?? undefined }));
