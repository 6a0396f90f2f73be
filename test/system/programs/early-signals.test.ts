import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/files.ts';
import { type Running, startExporter } from '../../support/program.ts';
import { startService } from '../../support/service.ts';
import { makePipe } from './named-pipe.ts';

/** A program in the middle of reading its configuration, and how it gets to the end of that. */
async function startInTheMiddle(command: string, text: string): Promise<{ program: Running; goOn(): void }> {
  const folder = temporaryFolder();
  const file = join(folder, 'config.yaml');
  const pipe = makePipe(file);
  const flags = command === 'serve' ? ['--web.listen-address=127.0.0.1:0'] : [];
  const program = startExporter([command, `--config.file=${file}`, '--log.format=json', ...flags], {
    BEACONCHAIN_API_KEY: 'key',
  });
  await pipe.isRead();
  const goOn = (): void => {
    // A reload finds a file.
    writeFileSync(`${file}.next`, text);
    renameSync(`${file}.next`, file);
    pipe.end(text);
  };
  return { program, goOn };
}

describe('system/programs/early-signals', () => {
  it('a SIGHUP before the configuration is read waits for the start to be over', async () => {
    const { url } = await startService('key');
    const text = `api: {base_url: "${url}"}\nchains: {mainnet: {v1_base_url: "${url}"}}\n`;
    const { program, goOn } = await startInTheMiddle('serve', text);
    program.child.kill('SIGHUP');
    program.child.kill('SIGHUP');
    goOn();
    await program.line('configuration reloaded');
    expect(program.lines('configuration reloaded')).toHaveLength(1);
    expect(await program.stop()).toEqual({ code: 0, signal: null });
  });

  it('a command that has nothing to reload ends with its terminal', async () => {
    const { program } = await startInTheMiddle('check', '');
    program.child.kill('SIGHUP');
    expect(await program.ended).toEqual({ code: null, signal: 'SIGHUP' });
  });
});
