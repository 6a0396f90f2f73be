/** A crowd of bad clients: kind, port, whether over TLS. Says when it has begun, and goes on until it is ended. */
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';

const [kind = '', portText, scheme] = process.argv.slice(2);
const port = Number(portText);

const get = (more = ''): string => `GET /metrics HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const password = (): string => Buffer.from(`admin:${Math.random()}`).toString('base64');
const KNOWN = `Authorization: Basic ${Buffer.from('prometheus:secret').toString('base64')}\r\n`;
const ZIPPED = `${KNOWN}Accept-Encoding: gzip\r\n`;

interface Kind {
  readonly clients: number;
  /** What each does with a new connection; a connection that ends is opened again. */
  readonly act: (socket: Socket) => void;
}

const KINDS: Readonly<Record<string, Kind>> = {
  'connections that say nothing': { clients: 500, act: () => undefined },
  'headers byte by byte': {
    clients: 200,
    act: (socket) => {
      socket.write('GET / HTTP/1.1\r\nX: ');
      const drip = setInterval(() => socket.write('a'), 100);
      socket.once('close', () => clearInterval(drip));
    },
  },
  'headers of 20 kB': { clients: 50, act: (socket) => socket.write(get(`X: ${'x'.repeat(20_000)}\r\n`)) },
  '1,000 requests at once, answers not read': {
    clients: 10,
    act: (socket) => socket.pause().write(get(KNOWN).repeat(1_000)),
  },
  'downloads broken off': {
    clients: 50,
    act: (socket) => {
      socket.write(get(KNOWN));
      socket.once('data', () => socket.destroy());
    },
  },
  'scrapes at once': { clients: 200, act: (socket) => socket.write(get(`${ZIPPED}Connection: close\r\n`)) },
  'passwords tried': {
    clients: 50,
    act: (socket) => socket.write(get(`Authorization: Basic ${password()}\r\nConnection: close\r\n`)),
  },
};

function open(kind: Kind): void {
  const options = { host: '127.0.0.1', port };
  const socket = scheme === 'tls' ? connectSecurely({ ...options, rejectUnauthorized: false }) : connect(options);
  socket.once(scheme === 'tls' ? 'secureConnect' : 'connect', () => kind.act(socket));
  socket.on('error', () => undefined);
  socket.resume();
  // All at once, once a second: a crowd that never waits measures its own CPU.
  socket.once('close', () => setTimeout(open, 1_000 - (Date.now() % 1_000), kind));
}

const chosen = KINDS[kind];
if (!chosen) throw new Error(`no kind ${kind}`);
for (let i = 0; i < chosen.clients; i += 1) open(chosen);
process.send?.(chosen.clients);
// Sockets that are not read keep no process alive, a channel that is listened to does.
process.on('message', () => undefined);
process.on('disconnect', () => process.exit());
