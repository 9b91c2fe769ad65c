import { spawn } from 'node:child_process'

/**
 * Makes the process `pid` end with this one, even when this one is killed outright: a watching shell reads a pipe
 * that only this process holds, and sends SIGKILL when it closes. Returns a function that calls the watch off.
 */
export function killWithParent(pid: number): () => void {
  const watch = spawn('/bin/sh', ['-c', 'read -r _ || kill -9 "$0"', `${pid}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // A Ctrl-C goes to the whole process group, and must not end the watch before its time.
    detached: true,
  })
  watch.unref()
  watch.stdin.on('error', () => {})
  return () => {
    // Reading a line succeeds, so the shell ends without the kill.
    watch.stdin.end('\n')
  }
}
