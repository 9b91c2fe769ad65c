import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const NS_PER_MS = 1e6
const QUIET_SHARE = 0.1
const QUIET_WINDOW_MS = 2_500
const QUIET_WINDOWS_MAX = 24

/**
 * Milliseconds that all threads of a process have spent on a core (Linux: the first field of `schedstat`), null
 * where the system does not say. Unlike requests per second it hardly depends on what else the machine does.
 */
export async function cpuMs(pid: number): Promise<number | null> {
  const tasks = `/proc/${pid}/task`
  try {
    const texts = await Promise.all(
      (await readdir(tasks)).map((task) => readFile(`${tasks}/${task}/schedstat`, 'utf8')),
    )
    return texts.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0) / NS_PER_MS
  } catch {
    return null
  }
}

/** Resolves when a process uses less than a tenth of a core, or after a minute. */
export async function untilQuiet(pid: number): Promise<void> {
  let before = await cpuMs(pid)
  for (let window = 0; window < QUIET_WINDOWS_MAX; window++) {
    await sleep(QUIET_WINDOW_MS)
    const now = await cpuMs(pid)
    if (now !== null && before !== null && now - before < QUIET_SHARE * QUIET_WINDOW_MS) return
    before = now
  }
}
