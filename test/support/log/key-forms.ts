/** All encodings in which a secret could appear in a text. */
export function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  // Base64 of a longer text with the secret in it, for each of the three possible alignments.
  const encoded = [0, 1, 2].flatMap((before) => {
    const aligned = Buffer.concat([Buffer.alloc(before), bytes]);
    const [from, to] = [Math.ceil((before * 8) / 6), Math.floor((aligned.length * 8) / 6)];
    return [aligned.toString('base64').slice(from, to), aligned.toString('base64url').slice(from, to)];
  });
  const html = secret.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  const quoted = JSON.stringify(secret).slice(1, -1);
  return [
    ...new Set([
      secret,
      quoted,
      JSON.stringify(quoted).slice(1, -1),
      html,
      encodeURIComponent(secret),
      encodeURI(secret),
    ]),
    ...encoded,
    bytes.toString('hex'),
  ];
}

/** The places that contain the secret, each with the encoding. */
export function leaksOf(secret: string, places: Readonly<Record<string, string>>): string[] {
  const forms = formsOf(secret);
  return Object.entries(places).flatMap(([place, text]) => {
    const lower = text.toLowerCase();
    return forms
      .filter((form) => text.includes(form) || lower.includes(form.toLowerCase()))
      .map((form) => `${place}: ${form}`);
  });
}
