import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * Makes the process `pid` end with this one, even after SIGKILL: a watching shell reads a pipe that only this process
 * holds, and sends SIGKILL when it closes. Returns a function that cancels the watch.
 */
export function killWithParent(pid: number): () => void {
  const watch = spawn('/bin/sh', ['-c', 'read -r _ || kill -9 "$0"', `${pid}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Detached, because Ctrl-C reaches the whole process group and would end the watch early.
    detached: true,
  })
  watch.unref()
  watch.stdin.on('error', () => {})
  return () => {
    // The shell's `read` succeeds on a line, so it exits without the kill.
    watch.stdin.end('\n')
  }
}

/** Sends SIGTERM, then SIGKILL after a timeout. Resolves when the process has exited. */
export async function endProcess(child: ChildProcess, timeoutMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
  await exited
  clearTimeout(timer)
}
