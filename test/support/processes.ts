// The system's public view of processes (Linux: from `/proc`).
import { readdir, readFile } from 'node:fs/promises'

/** A running process. */
export interface ShownProcess {
  readonly pid: number
  readonly arguments: string[]
  /** `NAME=value` each. */
  readonly environment: string[]
}

/** The process, or null when it has ended or is another user's. */
export async function showProcess(pid: number): Promise<ShownProcess | null> {
  try {
    // In this order: between fork and exec a child still has its parent's of both.
    const command = await read(pid, 'cmdline')
    return { pid, arguments: command, environment: await read(pid, 'environ') }
  } catch {
    return null
  }
}

/** Every process that can be looked at. */
export async function allProcesses(): Promise<ShownProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const shown = await Promise.all(pids.map(showProcess))
  return shown.filter((process) => process !== null)
}

/** The children of a process; none when it has ended. */
export async function childrenOf(pid: number): Promise<ShownProcess[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')),
  )
  const pids = lists.flatMap((list) => list.split(' ').filter((text) => text !== ''))
  const shown = await Promise.all(pids.map((child) => showProcess(Number(child))))
  return shown.filter((process) => process !== null)
}

async function read(pid: number, file: 'cmdline' | 'environ'): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/${file}`, 'latin1')
  return text.split('\0').filter((part) => part !== '')
}
