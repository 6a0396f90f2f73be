import type { X509Certificate } from 'node:crypto';
import { SocketAddress } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { TlsSettings } from './web-config.ts';

/** Why a client is refused because of its certificate; undefined: it is not. */
export function whyRefused(socket: TLSSocket, { clients, allowedSans }: TlsSettings): string | undefined {
  if (!clients.isAsked) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (!certificate) {
    return clients.isRequired || allowedSans ? 'the client has no certificate' : undefined;
  }
  if (clients.isVerified && !socket.authorized) {
    return `the client certificate is not accepted: ${socket.authorizationError}`;
  }
  if (allowedSans && !namesOf(certificate).some((name) => allowedSans.includes(name))) {
    return 'the client certificate has no name in client_allowed_sans';
  }
  return undefined;
}

/** `DNS:a, IP Address:1.2.3.4, URI:"..."`: Node quotes a name that could be read as several. */
const ENTRY = /(?:^|, )(DNS|IP Address|email|URI):("(?:[^"\\]|\\.)*"|[^,]*)/g;

/** The subject alternative names of a certificate, as Go writes them. */
export function namesOf({ subjectAltName = '' }: Pick<X509Certificate, 'subjectAltName'>): string[] {
  return [...subjectAltName.matchAll(ENTRY)].map(([, type, value = '']) => {
    const name = value.startsWith('"') ? String(JSON.parse(value)) : value;
    const isIPv6 = type === 'IP Address' && name.includes(':');
    return isIPv6 ? new SocketAddress({ address: name, family: 'ipv6' }).address : name;
  });
}
