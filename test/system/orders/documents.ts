import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { lexer, type Token, walkTokens } from 'marked';

/** What a document tells its reader to type: all commands of a block, or one between the words. */
export interface Order {
  readonly file: string;
  readonly line: number;
  /** The heading above it. */
  readonly heading: string;
  readonly isBlock: boolean;
  readonly text: string;
  /** The folder in which the document begins. A comment means the folder of its file, where no script is named. */
  readonly folder: string;
}

/** The first words of commands. Where a flag follows, any first word makes a command. */
const PROGRAMS =
  /^(amtool|apt|apt-get|beaconchain-exporter|cp|curl|docker|echo|git|helm|jq|journalctl|kill|kubectl|last|node|npm|npx|openssl|prometheus|promtool|redis-cli|rocketpool|scripts\/\S+|ss|ssh|sudo|systemctl|systemd-\w+|ulimit)$/;
const FLAG = / --?[a-z]/;
const OUR_COMMANDS = /^(backfill|check|demo|sandbox|serve) --/;

/** The changelog tells what was, so nobody types what it says. */
export const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...within('docs', /\.md$/)];
/** Files with commands in their comments. */
export const COMMENTED = ['config.example.yaml', 'Dockerfile', ...within('deploy', /\.(ya?ml|env|service)$/)];

function within(folder: string, ending: RegExp): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => ending.test(file))
    .map((file) => `${folder}/${file}`)
    .sort();
}

export function ordersIn(file: string): Order[] {
  const text = readFileSync(file, 'utf8');
  return COMMENTED.includes(file) ? inComments(file, text) : inMarkdown(file, text);
}

function inMarkdown(file: string, text: string): Order[] {
  const orders: Order[] = [];
  let at = 0;
  let heading = '';
  walkTokens(lexer(text), ({ type, raw, lang, text: words }: Token & { lang?: string; text?: string }) => {
    if (type === 'heading') heading = words ?? '';
    const isBlock = type === 'code' && /^(sh|bash|shell|console)$/.test(lang ?? '');
    const span = type === 'codespan' ? raw.replace(/^`+ ?| ?`+$/g, '').replace(/\s+/g, ' ') : '';
    if (!isBlock && !isCommand(span)) return;
    const [firstLine = ''] = raw.split('\n', 1);
    at = Math.max(at, text.indexOf(firstLine, at));
    const line = text.slice(0, at).split('\n').length;
    at += firstLine.length;
    orders.push({ file, line, heading, isBlock, text: isBlock ? `${words}\n` : asTyped(span), folder: '.' });
  });
  return orders;
}

/** A command in a comment is indented there, or follows a colon. */
function inComments(file: string, text: string): Order[] {
  return text.split('\n').flatMap((line, index) => {
    const [, rest = ''] = /^ *#(?: {2,}| .*?: )([a-z].*)$/.exec(line) ?? [];
    const [command = '', aside = ''] = rest.split(/\s+\((?=.*\)$)/);
    return [command, ...aside.replace(/\)$/, '').split(': ')].filter(isCommand).map((one) => ({
      file,
      line: index + 1,
      heading: '',
      isBlock: false,
      text: one,
      folder: one.includes('scripts/') ? '.' : dirname(file),
    }));
  });
}

function isCommand(text: string): boolean {
  const [first = '', ...rest] = text.split(' ').filter((word) => !/^[A-Z_]+=/.test(word));
  return (PROGRAMS.test(first) && rest.length > 0) || (/^[a-z][\w./-]*$/.test(first) && FLAG.test(text));
}

/** The documents leave out the name of the program where it is clear. */
function asTyped(span: string): string {
  return OUR_COMMANDS.test(span) ? `beaconchain-exporter ${span}` : span;
}
