import * as fs from 'node:fs/promises';

/** The functions of node:fs/promises that the documents of the state need. Tests replace them with a disk that fails. */
export interface Disk {
  open(path: string, flags: 'r' | 'wx', mode?: number): Promise<DiskFile>;
  readFile(path: string, encoding: 'utf8'): Promise<string>;
  rename(from: string, to: string): Promise<void>;
  rm(path: string, options: { readonly force: true }): Promise<void>;
  mkdir(path: string, mode: number): Promise<unknown>;
  readdir(path: string): Promise<string[]>;
  stat(path: string): Promise<DiskStats>;
}

export interface DiskFile {
  /** Writes the bytes from `offset` on, at the end of what was written before. */
  write(bytes: Uint8Array, offset: number): Promise<{ readonly bytesWritten: number }>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface DiskStats {
  readonly mode: number;
  isDirectory(): boolean;
}

export const realDisk: Disk = fs;
