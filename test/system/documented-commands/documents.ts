import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { lexer, type Token, walkTokens } from 'marked';

/** The commands that a document tells its reader to type: all of a block, or one in the text. */
export interface Command {
  readonly file: string;
  readonly line: number;
  /** The heading above it. */
  readonly heading: string;
  readonly isBlock: boolean;
  readonly text: string;
  /** Where a section begins: in the checkout, or for a comment in the folder of its file. Scripts run in the checkout. */
  readonly folder: string;
  /** The overlay that the document shows before it. */
  readonly overlay: string;
}

/** The first words of commands. Where a flag follows, any first word makes a command. */
const PROGRAMS =
  /^(amtool|apt|apt-get|beaconchain-exporter|cp|curl|docker|echo|git|helm|htpasswd|jq|journalctl|kill|kubectl|last|node|npm|npx|openssl|prometheus|promtool|redis-cli|rocketpool|scripts\/\S+|ss|ssh|sudo|systemctl|systemd-\w+|ulimit)$/;
const FLAG = / --?[a-z]/;
const OUR_COMMANDS = /^(backfill|check|demo|sandbox|serve) --/;

/** Readers do not type the commands of the changelog. */
export const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...within('deploy/kubernetes', /\.md$/),
  ...within('docs', /\.md$/),
];
/** Files with commands in their comments. */
export const COMMENTED = ['config.example.yaml', 'Dockerfile', ...within('deploy', /\.(ya?ml|env|service)$/)];

function within(folder: string, ending: RegExp): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => ending.test(file))
    .map((file) => `${folder}/${file}`)
    .sort();
}

export function commandsOf(file: string): Command[] {
  const text = readFileSync(file, 'utf8');
  return COMMENTED.includes(file) ? inComments(file, text) : inMarkdown(file, text);
}

function inMarkdown(file: string, text: string): Command[] {
  const commands: Command[] = [];
  let at = 0;
  let heading = '';
  let overlay = '';
  walkTokens(lexer(text), (token: Part) => {
    if (token.type === 'heading') heading = token.text ?? '';
    if (token.text?.startsWith('# kustomization.yaml\n')) overlay = token.text;
    const found = commandsIn(token);
    if (found.length === 0) return;
    const [firstLine = ''] = token.raw.split('\n', 1);
    at = Math.max(at, text.indexOf(firstLine, at));
    const line = text.slice(0, at).split('\n').length;
    at += firstLine.length;
    commands.push(...found.map((one) => ({ file, line, heading, ...one, folder: '.', overlay })));
  });
  return commands;
}

type Part = Token & { lang?: string; text?: string };

/** A block, what the comments of a block say, or a span. */
function commandsIn({ type, raw, lang = '', text = '' }: Part): Pick<Command, 'isBlock' | 'text'>[] {
  if (type === 'codespan') {
    const span = raw.replace(/^`+ ?| ?`+$/g, '').replace(/\s+/g, ' ');
    return isCommand(span) ? [{ isBlock: false, text: asTyped(span) }] : [];
  }
  if (type !== 'code') return [];
  const comments = [...text.matchAll(/# +((\S+) .*)$/gm)].filter(([, , first = '']) => PROGRAMS.test(first));
  return [
    ...(/^(sh|bash|shell|console)$/.test(lang) ? [{ isBlock: true, text: `${text}\n` }] : []),
    ...comments.map(([, comment = '']) => ({ isBlock: false, text: comment })),
  ];
}

/** A command in a comment is indented there, or follows a colon. */
function inComments(file: string, text: string): Command[] {
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
      overlay: '',
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
