// The registers of a machine of dstack. https://github.com/Dstack-TEE/dstack/blob/master/docs/attestation-tdx.md
import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { Registers } from '../../attestation/nitro.js'
import { jsonOf } from '../../protocol/json.js'
import { CommandError } from '../../terminal/failure.js'

const register = z.string().regex(/^[0-9a-f]{96}$/)
const imageSchema = z.object({ mrtd: register, rtmr0: register, rtmr1: register, rtmr2: register })
/** dstack logs these members, in this order and without spaces. */
const PROVIDER = /^{"name":"[\w-]+","id":"[0-9a-f]*"}$/

/**
 * @param image what dstack-mr prints as JSON, for the processors and the memory that the machine will have
 * @param appCompose the bytes of `app-compose.json`
 * @param keyProvider the payload of the event `key-provider`
 * @throws CommandError `image-malformed`
 */
export function registersOfDstack(image: string, appCompose: Buffer, keyProvider: string): Registers {
  const { data } = imageSchema.safeParse(jsonOf(image))
  if (data === undefined) throw malformed('dstack-mr printed no MRTD and RTMR 0 to 2 as JSON')
  if (!PROVIDER.test(keyProvider)) throw malformed('the key provider is not {"name":"…","id":"…"}')
  return { ...data, composeHash: sha256(appCompose), keyProvider: sha256(keyProvider) }
}

function sha256(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex')
}

function malformed(text: string): CommandError {
  return new CommandError('image-malformed', `the image cannot be measured: ${text}`)
}
