import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../files/files.ts';
import { OPENSSL, outputOf } from '../tools/tools.ts';

export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
}

interface CertificateOptions {
  /** Names of the server, such as `DNS:localhost,IP:127.0.0.1`. */
  readonly names?: string;
  /** The certificate authority. Without one the certificate is self-signed. */
  readonly issuer?: Certificate;
}

const REQUEST = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=test'.split(' ');

/** Makes a certificate that is valid for a day, and its key, in a temporary folder. */
export function makeCertificate(options: CertificateOptions = {}): Certificate {
  const { names = 'DNS:localhost,IP:127.0.0.1', issuer } = options;
  const folder = temporaryFolder();
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  outputOf(OPENSSL, [
    ...REQUEST,
    ...['-addext', `subjectAltName=${names}`, '-keyout', keyFile, '-out', certFile],
    ...(issuer ? ['-CA', issuer.certFile, '-CAkey', issuer.keyFile] : []),
  ]);
  return { certFile, keyFile, cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
}
