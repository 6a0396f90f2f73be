const END = '<!-- end of table -->';

/** The document with this table where the script that writes it is named. @throws where it has no place for one. */
export function withTable(document: string, script: string, table: string): string {
  const mark = `<!-- table: node ${script} -->`;
  const start = document.indexOf(mark);
  const end = document.indexOf(END, start);
  if (start < 0 || end < 0) throw new TypeError(`no ${mark}`);
  return `${document.slice(0, start)}${mark}\n${table}${document.slice(end)}`;
}
