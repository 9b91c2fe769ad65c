import { Worker } from 'node:worker_threads'
import { type AtomicFiles, createAtomicFiles } from './atomicFiles.js'
import type { DiskAnswer, DiskRequest } from './diskThread.js'
import { StorageError } from './storageError.js'

/** The files of the data directory, and whatever keeps them. */
export interface Disk {
  readonly files: AtomicFiles
  /** Call it once nothing is read or written any more. */
  stop(): Promise<void>
}

/** The files, kept by the calling thread. */
export function openDisk(root: string): Disk {
  return { files: createAtomicFiles({ root }), stop: async () => {} }
}

interface Call {
  resolve(value: DiskAnswer['value']): void
  reject(error: StorageError): void
}

/**
 * The files, kept by a thread of its own: a record takes a dozen calls of the file system, which the thread makes one
 * after another without handing each to a pool and back. What is asked for in one turn of the event loop travels in
 * one message. A failure of the thread itself is uncaught here, as one of the process would be.
 */
export function startDisk(root: string): Disk {
  const thread = new Worker(new URL('./diskThread.js', import.meta.url), { workerData: { root } })
  const calls = new Map<number, Call>()
  let lastId = 0
  let waiting: DiskRequest[] = []

  function send(): void {
    thread.postMessage(waiting)
    waiting = []
  }

  function ask(method: DiskRequest['method'], ...args: string[]): Promise<DiskAnswer['value']> {
    const id = ++lastId
    if (waiting.length === 0) setImmediate(send)
    waiting.push({ id, method, args })
    return new Promise((resolve, reject) => calls.set(id, { resolve, reject }))
  }

  thread.on('message', (answers: readonly DiskAnswer[]) => {
    for (const { id, value, failure } of answers) {
      const call = calls.get(id)
      calls.delete(id)
      if (failure === undefined) call?.resolve(value)
      else call?.reject(new StorageError(Object.assign(new Error(failure), { code: failure })))
    }
  })

  return {
    files: {
      read: async (path) => textOf(await ask('read', path)),
      write: async (path, text) => {
        await ask('write', path, text)
      },
      append: async (path, text) => {
        await ask('append', path, text)
      },
      move: async (from, to) => (await ask('move', from, to)) === true,
      remove: async (path) => (await ask('remove', path)) === true,
      list: async (path) => namesOf(await ask('list', path)),
      clean: async () => {
        await ask('clean')
      },
    },
    async stop() {
      await thread.terminate()
    },
  }
}

function textOf(value: DiskAnswer['value']): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function namesOf(value: DiskAnswer['value']): string[] {
  return Array.isArray(value) ? value : []
}
