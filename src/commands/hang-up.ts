let hasCome = false;

function hold(): void {
  hasCome = true;
}

/** Holds SIGHUP until the command says what it means. Without a listener it would end the process. */
export function holdHangUps(): void {
  process.on('SIGHUP', hold);
}

/** SIGHUP does this work. One that was held does it now. */
export function onHangUp(work: () => void): void {
  process.on('SIGHUP', work);
  process.off('SIGHUP', hold);
  if (hasCome) work();
}

/** SIGHUP ends the process. One that was held ends it now. */
export function endOnHangUp(): void {
  process.off('SIGHUP', hold);
  if (hasCome) process.kill(process.pid, 'SIGHUP');
}
