import { describe, expect, it } from 'vitest';
import { servedLink } from '../../src/docs/links.ts';
import { filesUrl } from '../../src/lib/version.ts';

const REPOSITORY = 'https://git.example/exporter/blob/v1.2.3';

describe('docs/links', () => {
  it.each([
    ['a section of the same document', '#state', '#state'],
    ['another document', 'budget.md', 'budget'],
    ['a section of another document', 'alerts.md#noleader', 'alerts#noleader'],
    ['a picture', 'images/fleet.png', 'images/fleet.png'],
    ['the web', 'https://prometheus.io/docs/', 'https://prometheus.io/docs/'],
    ['a script', 'javascript:alert(1)', undefined],
    ['a script in other letters', 'JavaScript:alert(1)', undefined],
    ['data', 'data:text/html,x', undefined],
    ['a path outside the repository', '../../etc/passwd', undefined],
  ])('%s', (_, target, address) => {
    expect(servedLink(target, undefined)).toBe(address);
    expect(servedLink(target, REPOSITORY)).toBe(address);
  });

  it.each([
    ['an internal document', 'internals/design.md#why-it-polls', `${REPOSITORY}/docs/internals/design.md#why-it-polls`],
    ['a file elsewhere', '../config.example.yaml', `${REPOSITORY}/config.example.yaml`],
    ['a picture that is not served', 'images/overview.png', `${REPOSITORY}/docs/images/overview.png`],
  ])('%s leads to the repository, if one is known', (_, target, address) => {
    expect(servedLink(target, undefined)).toBeUndefined();
    expect(servedLink(target, REPOSITORY)).toBe(address);
  });

  it.each([
    ['git+https://git.example/exporter.git', REPOSITORY],
    ['https://git.example/exporter', REPOSITORY],
    ['git@git.example:exporter.git', undefined],
    [undefined, undefined],
  ])('the repository %s is at %s', (repository, address) => {
    expect(filesUrl(repository, '1.2.3')).toBe(address);
  });
});
