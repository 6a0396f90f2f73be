import { describe, expect, it } from 'vitest';
import { namesOf } from '../../../src/toolkit/web/client-certificates.ts';

describe('web/client-certificates', () => {
  it.each([
    [undefined, []],
    ['DNS:one', ['one']],
    ['DNS:one, DNS:*.two, email:a@b.c', ['one', '*.two', 'a@b.c']],
    ['IP Address:10.0.0.1, IP Address:FE80:0:0:0:0:0:0:1', ['10.0.0.1', 'fe80::1']],
    ['URI:spiffe://a/b?c=d', ['spiffe://a/b?c=d']],
    // Node quotes a name that would read like several.
    ['DNS:"good.example, DNS:evil.example"', ['good.example, DNS:evil.example']],
    ['URI:"http://a/\\u0000, DNS:evil", DNS:last', ['http://a/\u0000, DNS:evil', 'last']],
    ['othername:<unsupported>, DNS:one', ['one']],
  ])('of %s', (subjectAltName, names) => {
    expect(namesOf({ subjectAltName })).toEqual(names);
  });
});
