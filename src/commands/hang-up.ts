let hasCome = false;

function hold(): void {
  hasCome = true;
}

/** Defers SIGHUP until the command sets its meaning. Without a listener it would end the process. */
export function holdHangUps(): void {
  process.on('SIGHUP', hold);
}

/** Runs this work on SIGHUP, and now if a SIGHUP was deferred. */
export function onHangUp(work: () => void): void {
  process.on('SIGHUP', work);
  process.off('SIGHUP', hold);
  if (hasCome) work();
}

/** Ends the process on SIGHUP, and now if a SIGHUP was deferred. */
export function endOnHangUp(): void {
  process.off('SIGHUP', hold);
  if (hasCome) process.kill(process.pid, 'SIGHUP');
}
