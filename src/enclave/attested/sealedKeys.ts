import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { isChainFailure } from '../../chain/errors.js'
import { bytes32Schema, bytesToHex, type Hex, hexToBytes } from '../../protocol/hex.js'
import { brokerKeysSchema } from '../../protocol/provisioning.js'
import type { Logger } from '../../service/logger.js'
import { readPrivateFile } from '../../service/privateFile.js'
import { pause, withTimeout } from '../../service/waiting.js'
import { describeFailure } from './failures.js'
import type { Secrets } from './gathering.js'
import { type Machine, MachineError } from './machine.js'

const secretsSchema = z.strictObject({
  ...brokerKeysSchema.shape,
  master: bytes32Schema,
  configuration: bytes32Schema,
})
/** Pauses in milliseconds: before the nodes are asked again, and before the device is, which doubles each time. */
const TIMES = { chainAgainMs: 1_000, deviceAgainMs: 500 }
/** Half a minute together. */
const DEVICE_TRIES = 7
/** What comes of a file that others may read, or that is none of the enclave's. */
const OF_FILE = ['internal-error', 'invalid-bytes']
/** A device seals within a second or two. */
const SEALING_MS = 10_000

/**
 * `sealed-keys` in the state directory: a restart of the same program on the same machine, with the same configuration, needs nobody.
 * With another one it needs the holders again. Otherwise the operator could start it with a chain that shows old orders as open, and
 * a broker of his own that gets them. What the guardian has revoked, or the owner has replaced, opens nothing either.
 */
export function createSealedKeys(deps: {
  readonly directory: string
  readonly machine: Pick<Machine, 'sealing'>
  /** `configDigest` of the stated configuration. */
  readonly configuration: Hex
  /** `objectionTo` this program. */
  readonly objection: () => Promise<string | undefined>
  readonly times?: typeof TIMES
  readonly logger: Logger
}) {
  const { machine, configuration, times = TIMES, logger } = deps
  const path = join(deps.directory, 'sealed-keys')

  /** Asks until the nodes answer, or `stopping` aborts. */
  const objectionNow = createRetries({ isPassing: isChainFailure, pauseMs: () => times.chainAgainMs, logger })
  /** A device that is busy may be free within half a minute. One that refuses another program's file does not say so. */
  const deviceNow = createRetries({
    isPassing: (error) => error instanceof MachineError && error.code !== 'foreign-object',
    pauseMs: (tries) => (tries < DEVICE_TRIES ? times.deviceAgainMs * 2 ** (tries - 1) : undefined),
    logger,
  })

  async function seal({ master, brokerKeys }: Secrets, stopping: AbortSignal): Promise<void> {
    const { sealing } = machine
    if (sealing === undefined) return
    try {
      const text = JSON.stringify({ v: 1, master: bytesToHex(master), configuration, ...brokerKeys })
      const bytes = Uint8Array.from(new TextEncoder().encode(text))
      const sealed = await deviceNow(() => sealing.seal(bytes), stopping)
      writeFileSync(`${path}.part`, sealed, { mode: 0o600, flush: true })
      renameSync(`${path}.part`, path)
    } catch (error) {
      logger.error('keys not sealed', describeFailure(error))
    }
  }

  return {
    /**
     * Undefined where there are none, another program, machine or configuration sealed them, or this program may not open them: the file is
     * kept then. Lasts until the nodes answer, and minutes more where the device does not, or until `stopping` aborts. Never rejects.
     */
    async load(stopping: AbortSignal): Promise<Secrets | undefined> {
      if (machine.sealing === undefined || !existsSync(path)) return undefined
      try {
        const reason = await objectionNow(deps.objection, stopping)
        if (reason !== undefined) {
          logger.warn('sealed keys not opened', { reason })
          return undefined
        }
        const { sealing } = machine
        const bytes = await deviceNow(() => sealing.unseal(Uint8Array.from(readPrivateFile(path))), stopping)
        const kept = secretsSchema.parse(JSON.parse(new TextDecoder().decode(bytes)))
        if (kept.configuration !== configuration) {
          logger.warn('sealed keys not opened', { reason: 'wrong-configuration' })
          return undefined
        }
        const { master, keyId, secretKey } = kept
        return { master: hexToBytes(master), brokerKeys: { keyId, secretKey } }
      } catch (error) {
        const failure = describeFailure(error)
        const code = OF_FILE.includes(`${failure.code}`) ? 'sealed-unreadable' : failure.code
        logger.warn('sealed keys not opened', { ...failure, code })
        return undefined
      }
    },
    /**
     * Never rejects: without the file, the next start waits for the holders again. Resolves after ten seconds at most, and goes on beside where
     * the device is busy.
     */
    save: (secrets: Secrets, stopping: AbortSignal) => withTimeout(seal(secrets, stopping), SEALING_MS),
  }
}

export type SealedKeys = ReturnType<typeof createSealedKeys>

/** Tries again after failures that pass. The log says it once. @param pauseMs undefined after the last try */
function createRetries({
  isPassing,
  pauseMs,
  logger,
}: {
  readonly isPassing: (error: unknown) => boolean
  readonly pauseMs: (tries: number) => number | undefined
  readonly logger: Logger
}) {
  return async <T>(work: () => Promise<T>, stopping: AbortSignal): Promise<T> => {
    for (let tries = 1; ; tries++) {
      try {
        return await work()
      } catch (error) {
        const wait = isPassing(error) ? pauseMs(tries) : undefined
        if (wait === undefined) throw error
        if (tries === 1) logger.warn('sealed keys deferred', describeFailure(error))
        if (!(await pause(wait, stopping))) throw error
      }
    }
  }
}
