import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { configFile } from '../../support/files/files.ts';
import { ANY_PORT, startExporter } from '../../support/programs/program.ts';

const DOCUMENT = readFileSync('docs/troubleshooting.md', 'utf8');
const ADDRESS = 'http://127.0.0.1:10034';

it('system/programs/sandbox: answers every request of the configuration in docs/troubleshooting.md', async () => {
  const sandbox = startExporter(['sandbox', ANY_PORT, '--log.format=json']);
  const { url, hoodi, key } = await sandbox.line('simulated service');
  expect({ hoodi, key }).toEqual({ hoodi: `${url}/hoodi`, key: 'sandbox' });
  const [, config = ''] = /```yaml\n([\s\S]*?)```/.exec(DOCUMENT) ?? [];
  const file = configFile(config.replaceAll(ADDRESS, String(url)));
  const program = startExporter(['check', '--probe', '--yes', `--config.file=${file}`]);
  expect((await program.ended).code, program.output).toBe(0);
  expect(program.stdout).not.toContain('Warning');
});
