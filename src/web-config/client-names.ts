import type { X509Certificate } from 'node:crypto';
import { SocketAddress } from 'node:net';

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
