let hasCome = false;

function hold(): void {
  hasCome = true;
}

/** SIGHUP waits for a command that says what it means. Left to Node, it ends the process. */
export function holdHangUps(): void {
  process.on('SIGHUP', hold);
}

/** SIGHUP means this work, also one that was held. */
export function onHangUp(work: () => void): void {
  process.on('SIGHUP', work);
  process.off('SIGHUP', hold);
  if (hasCome) work();
}

/** SIGHUP ends the process, also one that was held. */
export function endOnHangUp(): void {
  process.off('SIGHUP', hold);
  if (hasCome) process.kill(process.pid, 'SIGHUP');
}
