import * as fs from 'node:fs/promises';

/** The functions of node:fs/promises that the state directory needs. Tests replace them with a disk that fails. */
export interface Disk {
  open(path: string, flags: string | number, mode?: number): Promise<DiskFile>;
  readFile(path: string, encoding: 'utf8'): Promise<string>;
  rename(from: string, to: string): Promise<void>;
  rm(path: string, options: { readonly force: true }): Promise<void>;
  mkdir(path: string, mode: number): Promise<unknown>;
  readdir(path: string): Promise<string[]>;
  stat(path: string): Promise<DiskStats>;
  lstat(path: string): Promise<DiskStats>;
  chmod(path: string, mode: number): Promise<void>;
  /** Times in seconds. */
  lutimes(path: string, accessed: number, modified: number): Promise<void>;
}

export interface DiskFile {
  /** Writes the bytes from `offset` on, at the end of what was written before. */
  write(bytes: Uint8Array, offset: number): Promise<{ readonly bytesWritten: number }>;
  read(into: Buffer, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>;
  stat(): Promise<DiskStats>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface DiskStats {
  readonly mode: number;
  readonly mtimeMs: number;
  isFile(): boolean;
  isDirectory(): boolean;
}

export const realDisk: Disk = fs;
