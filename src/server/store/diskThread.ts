// The thread of `startDisk`: does with the files what it is asked for, many things at a time.
import { parentPort, workerData } from 'node:worker_threads'
import { z } from 'zod'
import { type AtomicFiles, createAtomicFiles } from './atomicFiles.js'
import { blockingFileSystem } from './fileSystem.js'
import { StorageError } from './storageError.js'

/** One call of `AtomicFiles`. */
export interface DiskRequest {
  readonly id: number
  readonly method: keyof AtomicFiles
  readonly args: readonly string[]
}

/** What came of it. */
export interface DiskAnswer {
  readonly id: number
  readonly value?: string | string[] | boolean | undefined
  /** The system's code of a failure, such as `ENOSPC`. */
  readonly failure?: string
}

const { root } = z.object({ root: z.string() }).parse(workerData)
const files = createAtomicFiles({ root, fs: blockingFileSystem })
let answers: DiskAnswer[] = []

function send(): void {
  parentPort?.postMessage(answers)
  answers = []
}

async function carryOut({ method, args }: DiskRequest): Promise<Omit<DiskAnswer, 'id'>> {
  const [first = '', second = ''] = args
  try {
    if (method === 'write' || method === 'append') await files[method](first, second)
    else if (method === 'clean') await files.clean()
    else if (method === 'move') return { value: await files.move(first, second) }
    else return { value: await files[method](first) }
    return {}
  } catch (error) {
    return { failure: (error instanceof StorageError && error.code) || 'UNKNOWN' }
  }
}

async function answer(request: DiskRequest): Promise<void> {
  const done = await carryOut(request)
  if (answers.length === 0) setImmediate(send)
  answers.push({ id: request.id, ...done })
}

parentPort?.on('message', (requests: readonly DiskRequest[]) => {
  for (const request of requests) void answer(request)
})
