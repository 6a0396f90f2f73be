import { resolve } from 'node:path';
import * as z from 'zod';
import { keyPrefix, redisUrl, section, text } from '../toolkit/yaml/fields.ts';

export const DEFAULT_DIR = './beaconchain-exporter-state';

const file = text('the path of a file');

const Tls = section({
  ca_file: file.optional().describe('CA certificates to trust instead of those of the system.'),
  cert_file: file.optional().describe('A client certificate; requires key_file.'),
  key_file: file.optional().describe('The private key of the client certificate.'),
  server_name: text('a host name')
    .optional()
    .describe('The name in the certificate, if it differs from the host of the URL.'),
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
  url: redisUrl.describe('The URL of Redis or Valkey; rediss:// uses TLS.'),
  password: z
    .string({ error: 'a password' })
    .optional()
    .describe('The password, with any characters. It can also be part of the URL, percent-encoded.'),
  prefix: keyPrefix
    .prefault('beaconchain')
    .describe('The prefix of the key names in Redis. Use a different one for each API key.'),
  tls: Tls.optional().describe('TLS settings of a rediss:// URL.'),
}).refine(({ url, tls }) => tls === undefined || url.startsWith('rediss:'), {
  error: 'tls requires a url that starts with rediss://',
});

export const State = section({
  dir: text('the path of a directory').optional().meta({
    description: 'A directory, used by one process only. The default is in the working directory.',
    default: DEFAULT_DIR,
  }),
  redis: Redis.nullish().describe(
    'Use Redis instead of dir, for replicas with one API key. See docs/high-availability.md.',
  ),
})
  .meta({ not: { type: 'object', required: ['dir', 'redis'], properties: { redis: { type: 'object' } } } })
  .refine(({ dir, redis }) => dir === undefined || !redis, { error: 'expected only one of dir and redis' })
  .transform(({ dir = DEFAULT_DIR, redis }) => ({ dir: resolve(dir), redis: redis ?? undefined }));
