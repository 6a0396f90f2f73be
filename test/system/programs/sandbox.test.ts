import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/files/files.ts';
import { startExporter } from '../../support/programs/program.ts';

const DOCUMENT = readFileSync('docs/internals/sandbox.md', 'utf8');
const ADDRESS = 'http://127.0.0.1:10034';

describe('system/programs/sandbox', () => {
  it('an exporter with the configuration in docs/internals/sandbox.md understands every answer, on both chains', async () => {
    const sandbox = startExporter(['sandbox', '--web.listen-address=127.0.0.1:0', '--log.format=json']);
    const { url, hoodi, key } = await sandbox.line('simulated service');
    expect({ hoodi, key }).toEqual({ hoodi: `${url}/hoodi`, key: 'sandbox' });
    const [, config = ''] = /```yaml\n([\s\S]*?)```/.exec(DOCUMENT) ?? [];
    const file = join(temporaryFolder(), 'config.yaml');
    writeFileSync(file, config.replaceAll(ADDRESS, String(url)), { mode: 0o600 });
    const program = startExporter(['check', '--probe', '--yes', `--config.file=${file}`]);
    expect((await program.ended).code, program.output).toBe(0);
    expect(program.stdout).not.toContain('Warning');
  });
});
