import { expect, it } from 'vitest';
import { isListenError, listenRefusal } from '../../src/commands/refusals.ts';

it.each([
  [{ code: 'EADDRINUSE', address: '::', port: 1 }, 'the address [::]:1 is taken: choose another one with --web'],
  [{ code: 'EADDRINUSE', address: '127.0.0.1', port: 1, remedy: 'b' }, 'the address 127.0.0.1:1 is taken: b'],
  [
    { code: 'EPERM', address: '::', port: 1 },
    'cannot listen on [::]:1: EPERM: the unit of systemd forbids this port: add SocketBindAllow=tcp:1',
  ],
  [{ code: 'ENOTFOUND', hostname: 'nowhere' }, 'cannot listen on nowhere: ENOTFOUND: choose another one with --web'],
])('commands/refusals: says what to change after %j', (given, line) => {
  const error = Object.assign(new Error('any'), { syscall: 'listen' }, given);
  if (!isListenError(error)) throw error;
  expect(listenRefusal(error)).toContain(line);
});
