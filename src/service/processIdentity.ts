import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** A process, distinct from a later one with the same pid. */
export interface ProcessIdentity {
  /** Where a pid means the same process: one boot of one machine and one pid namespace; elsewhere the host name. */
  readonly space: string
  readonly pid: number
  /** Clock ticks since boot (proc(5), stat field 22); null where the system has no such field. */
  readonly startedAt: string | null
}

export function ownIdentity(): ProcessIdentity {
  return identityOf(process.pid)
}

/** The identity of a running process of our own pid space. */
export function identityOf(pid: number): ProcessIdentity {
  return { space: pidSpace(), pid, startedAt: stat(pid)?.startedAt ?? null }
}

/** Whether that process of our own pid space still runs. A zombie does not. */
export function isRunning({ pid, startedAt }: ProcessIdentity): boolean {
  const found = stat(pid)
  if (found !== undefined && startedAt !== null) {
    return found.startedAt === startedAt && found.state !== 'Z' && found.state !== 'X'
  }
  return respondsToSignals(pid)
}

/** Whether its pid belongs to another process of our own pid space by now. */
export function isReplaced({ pid, startedAt }: ProcessIdentity): boolean {
  const found = stat(pid)
  return found !== undefined && found.startedAt !== startedAt
}

function respondsToSignals(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it exists, and is another user's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

function pidSpace(): string {
  const boot = quietly(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
  const namespace = quietly(() => readlinkSync('/proc/self/ns/pid'))
  return boot === undefined || namespace === undefined ? hostname() : `${boot} ${namespace}`
}

/** proc(5): the command in parentheses may hold anything, so fields are counted from its last `)`. */
function stat(pid: number): { state: string; startedAt: string } | undefined {
  const text = quietly(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  if (text === undefined) return undefined
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, startedAt] = [fields[0], fields[19]]
  return state === undefined || startedAt === undefined ? undefined : { state, startedAt }
}

function quietly<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
