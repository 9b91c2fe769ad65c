import { statfs } from 'node:fs/promises'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'

/** What the numbers depend on besides the code. */
export interface Machine {
  readonly cores: number
  readonly cpu: string
  readonly memoryGiB: number
  readonly node: string
  readonly platform: string
  /** Runnable processes over the last minute, before the bench: above 0 others used the machine too. */
  readonly loadBefore: number
  /** `statfs` type of the directory that envelopes are written to, in hex; 1021994 is memory. */
  readonly filesystem: string
}

export async function describeMachine(directory: string): Promise<Machine> {
  return {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    loadBefore: Math.round((loadavg()[0] ?? 0) * 10) / 10,
    filesystem: (await statfs(directory)).type.toString(16),
  }
}
