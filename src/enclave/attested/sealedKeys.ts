import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { bytes32Schema, bytesToHex, hexToBytes } from '../../protocol/hex.js'
import { brokerKeysSchema } from '../../protocol/provisioning.js'
import { describeError, type Logger } from '../../service/logger.js'
import { readPrivateFile } from '../../service/privateFile.js'
import type { Secrets } from './gathering.js'
import type { Platform } from './platform.js'

const secretsSchema = z.strictObject({ ...brokerKeysSchema.shape, master: bytes32Schema })

/** `sealed-keys` in the state directory: a restart of the same program on the same machine needs nobody. */
export function createSealedKeys(deps: {
  readonly directory: string
  readonly platform: Pick<Platform, 'sealing'>
  readonly logger: Logger
}) {
  const { platform, logger } = deps
  const path = join(deps.directory, 'sealed-keys')
  return {
    /** Undefined where there are none, or another program or machine sealed them: the file is kept then. Never rejects. */
    async load(): Promise<Secrets | undefined> {
      if (platform.sealing === undefined || !existsSync(path)) return undefined
      try {
        const bytes = await platform.sealing.unseal(Uint8Array.from(readPrivateFile(path)))
        const { master, keyId, secretKey } = secretsSchema.parse(JSON.parse(new TextDecoder().decode(bytes)))
        return { master: hexToBytes(master), brokerKeys: { keyId, secretKey } }
      } catch (error) {
        logger.warn('sealed keys not opened', describeError(error))
        return undefined
      }
    },
    /** Never rejects: without the file, the next start waits for the holders again. */
    async save({ master, brokerKeys }: Secrets): Promise<void> {
      if (platform.sealing === undefined) return
      try {
        const text = JSON.stringify({ v: 1, master: bytesToHex(master), ...brokerKeys })
        const sealed = await platform.sealing.seal(Uint8Array.from(new TextEncoder().encode(text)))
        writeFileSync(`${path}.part`, sealed, { mode: 0o600, flush: true })
        renameSync(`${path}.part`, path)
      } catch (error) {
        logger.error('keys not sealed', describeError(error))
      }
    },
  }
}
