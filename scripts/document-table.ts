const END = '<!-- end of table -->';

/** Puts the table where the document names the script that writes it. @throws if the document does not. */
export function withTable(document: string, script: string, table: string): string {
  const mark = `<!-- table: node ${script} -->`;
  const start = document.indexOf(mark);
  const end = document.indexOf(END, start);
  if (start < 0 || end < 0) throw new TypeError(`no ${mark}`);
  return `${document.slice(0, start)}${mark}\n${table}${document.slice(end)}`;
}
