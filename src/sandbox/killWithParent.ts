import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * Makes a process that was just started end with this one, even after SIGKILL: a watching shell reads a pipe that only this process
 * holds, and sends SIGKILL when it closes.
 */
export function killWithParent(child: ChildProcess): void {
  if (child.pid === undefined) return
  const watch = spawn('/bin/sh', ['-c', 'read -r _ || kill -9 "$0"', `${child.pid}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Detached, because Ctrl-C reaches the whole process group and would end the watch early.
    detached: true,
  })
  watch.unref()
  watch.stdin.on('error', () => {})
  // The shell's `read` succeeds on a line, so it exits without the kill.
  child.once('exit', () => watch.stdin.end('\n'))
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
