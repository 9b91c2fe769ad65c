import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { TABLES } from '../../../src/server/store/engine.js'
import { childrenOf, type ShownProcess, showProcess } from '../../support/processes.js'
import { storedRows } from '../../support/storedRows.js'
import type { Evidence } from './evidence.js'

/** Something that is looked at again and again until it is stopped. */
export interface Watch {
  /** Looks a last time. */
  stop(): Promise<void>
}

/** A run of the enclave takes a second at least. */
const PAUSE_MS = 50

function watch(look: () => Promise<void>): Watch {
  let stopped = false
  const ended = (async () => {
    while (!stopped) {
      await look()
      await sleep(PAUSE_MS)
    }
    await look()
  })()
  return {
    stop() {
      stopped = true
      return ended
    },
  }
}

/**
 * Keeps every content that the files of a directory, of those below it, and the documents of a server's database ever have;
 * and their names. Of the database's own files, the bytes that they have at the end.
 */
export function watchFiles(evidence: Evidence, directory: string): Watch {
  const keep = (files: Map<string, Buffer>) => {
    for (const [path, content] of files) {
      evidence.add('file', path, Buffer.concat([Buffer.from(`${path}\n`), content]))
    }
  }
  const watched = watch(async () => keep(await readFiles(directory)))
  return {
    async stop() {
      await watched.stop()
      keep(await readAll(directory))
    },
  }
}

/** Keeps the arguments and the environment of processes and of their children, while they run. */
export function watchProcesses(evidence: Evidence, parents: () => readonly number[]): Watch {
  return watch(async () => {
    const shown = (
      await Promise.all(parents().map(async (pid) => [await showProcess(pid), ...(await childrenOf(pid))]))
    ).flat()
    for (const process of shown.filter((each) => each !== null)) keepProcess(evidence, process)
  })
}

function keepProcess(evidence: Evidence, { arguments: command, environment }: ShownProcess): void {
  // One that is just starting, or has just ended, shows no command. The former is looked at again.
  if (command.length === 0) return
  evidence.add('process', command.join(' '), [...command, ...environment].join('\n'))
}

/** The files below a directory by their path in it, and a server's documents in place of its database. */
async function readFiles(directory: string): Promise<Map<string, Buffer>> {
  const files = [...(await readAll(directory))].filter(([path]) => !DATABASE.test(path))
  const documents = TABLES.flatMap((table) =>
    storedRows(directory, table).map(
      ({ id, is_open, doc }) =>
        [`${table}/${is_open === 1 ? 'open' : 'done'}/${id}`, Buffer.from(doc)] as const,
    ),
  )
  return new Map([...files, ...documents])
}

const DATABASE = /^server\.(?:db|db-wal|db-shm|lock|pid)$/

/** Leaves out files that vanish during the look. */
async function readAll(directory: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(directory, { recursive: true }).catch(() => [])
  const files = await Promise.all(
    entries.map(async (path) => [path, await readFile(join(directory, path)).catch(() => null)] as const),
  )
  return new Map(files.flatMap(([path, content]) => (content === null ? [] : [[path, content]])))
}
