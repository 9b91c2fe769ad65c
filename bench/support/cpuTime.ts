import { readdir, readFile } from 'node:fs/promises'

const NS_PER_MS = 1e6

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
