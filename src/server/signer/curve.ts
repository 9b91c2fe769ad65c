import { parentPort, Worker, workerData } from 'node:worker_threads'
import * as z from 'zod'
import { ProtocolError } from '../../protocol/errors.js'
import type { Hex } from '../../protocol/hex.js'
import { createSignerCheck } from '../../protocol/signature.js'
import { signDigest } from '../../protocol/signDigest.js'
import { registerNativeKeccak } from '../../service/nativeKeccak.js'
import {
  prepareTransaction,
  type RawTransaction,
  rawTransactionSchema,
  type UnsignedTransaction,
} from './transaction.js'

/** The relay's work on the curve: a quarter of what an authorization costs the server. */
export interface Curve {
  signTransaction(transaction: UnsignedTransaction, privateKey: Hex): Promise<RawTransaction>
  /** Whether `signer` signed the digest, in the only form that the contracts accept. */
  isSignedBy(signer: Hex, digest: Hex, signature: Hex): Promise<boolean>
}

/** A call, as it travels to the thread. */
type Call = { [Name in keyof Curve]: readonly [Name, ...Parameters<Curve[Name]>] }[keyof Curve]
/** Tells the thread what it is for. */
const PURPOSE = 'curve'

/** Works on the caller's thread. */
export function createCurve(): Curve {
  let last: { readonly signer: Hex; readonly check: ReturnType<typeof createSignerCheck> } | undefined
  return {
    async signTransaction(transaction, privateKey) {
      const { digest, signed } = prepareTransaction(transaction)
      return signed(signDigest(digest, privateKey))
    },
    async isSignedBy(signer, digest, signature) {
      if (last?.signer !== signer) last = { signer, check: createSignerCheck(signer) }
      try {
        last.check(digest, signature)
        return true
      } catch (error) {
        if (error instanceof ProtocolError) return false
        throw error
      }
    },
  }
}

/** Works on a thread of its own, one call after the other. A failure of that thread ends the process. */
export function startCurve(): Curve & { stop(): Promise<void> } {
  const thread = new Worker(new URL('./curveThread.js', import.meta.url), { workerData: PURPOSE })
  const waiting: ((answer: unknown) => void)[] = []
  thread.on('message', (answer) => waiting.shift()?.(answer))
  const ask = (...call: Call) =>
    new Promise<unknown>((resolve) => {
      waiting.push(resolve)
      thread.postMessage(call)
    })
  return {
    signTransaction: async (...given) => rawTransactionSchema.parse(await ask('signTransaction', ...given)),
    isSignedBy: async (...given) => z.boolean().parse(await ask('isSignedBy', ...given)),
    async stop() {
      await thread.terminate()
    },
  }
}

// The thread itself: the build makes `curveThread.js` of this file. Answers keep the order of the calls, because none waits for anything.
if (workerData === PURPOSE) {
  registerNativeKeccak()
  const curve = createCurve()
  const answer = (call: Call): Promise<unknown> =>
    call[0] === 'isSignedBy'
      ? curve.isSignedBy(call[1], call[2], call[3])
      : curve.signTransaction(call[1], call[2])
  parentPort?.on('message', async (call: Call) => parentPort?.postMessage(await answer(call)))
}
