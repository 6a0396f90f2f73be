import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { Finding } from '../config/mistakes.ts';

/** A text in PEM, and the key of the config that gave it. */
export interface Pem {
  readonly path: readonly string[];
  readonly text: string;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** What is wrong with a certificate and its key. */
export function pairFindings(cert: Pem, key: Pem): Finding[] {
  const certificate = parsed(() => new X509Certificate(cert.text));
  const secret = parsed(() => createPrivateKey(key.text));
  const findings: Finding[] = [];
  if (!certificate) findings.push({ path: cert.path, message: 'expected a certificate in PEM' });
  if (!secret) findings.push({ path: key.path, message: 'expected a private key in PEM, without a passphrase' });
  if (certificate && secret && !isPair(certificate, secret)) {
    findings.push({ path: key.path, message: 'the key does not match the certificate' });
  }
  return findings;
}

export function authorityFindings(authorities: Pem): Finding[] {
  const texts = authorities.text.match(CERTIFICATE) ?? [];
  const isGood = texts.length > 0 && texts.every((text) => parsed(() => new X509Certificate(text)));
  return isGood ? [] : [{ path: authorities.path, message: 'expected certificates in PEM' }];
}

function isPair(certificate: X509Certificate, key: KeyObject): boolean {
  return parsed(() => certificate.checkPrivateKey(key)) ?? false;
}

function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    // The error of OpenSSL contains no more information.
    return undefined;
  }
}
