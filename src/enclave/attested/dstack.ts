// A machine of Intel TDX that dstack runs: its agent gives quotes, and keys, at a socket inside of the machine. The paths without a version are
// those of dstack 0.5, which 0.6 serves as they were.
// https://github.com/Dstack-TEE/dstack/blob/master/docs/guest-api-v0.md
import * as z from 'zod'
import { hexText, sha256 } from '../../attestation/bytes.js'
import { demand } from '../../attestation/errors.js'
import { measurementOf } from '../../attestation/policy.js'
import { readQuote } from '../../attestation/tdx/quote.js'
import { INTEL_SGX_ROOT, registersOf, verifySigned } from '../../attestation/tdx/verify.js'
import { type AnsweredQuote, encodeEvidence, quoteSchema } from '../../attestation/tdx/write.js'
import { concatBytes, hexToBytes } from '../../protocol/hex.js'
import { createPost } from '../../service/post.js'
import { createCollateral, INTEL } from './collateral.js'
import { type Machine, MachineError } from './machine.js'
import { lock, unlock } from './secretBox.js'

const SOCKET = '/var/run/dstack.sock'
const TIMEOUT_MS = 20_000
/** The log of the firmware is in each answer, too. */
const MAX_ANSWER_BYTES = 1_048_576
const NO_NONCE = new Uint8Array(32)
/**
 * The key provider that derives a machine's keys from the processor and from all registers, the program's among them. A key service (`kms`) gives
 * them to each program that its policy names, and can name another one.
 * https://github.com/MoeMahhouk/gramine-sealing-key-provider
 */
const SEALS_TO_REGISTERS = 'local-sgx'

const keySchema = z.object({ key: z.string().regex(/^[0-9a-f]{64}$/) })
const providerSchema = z.object({ name: z.string() })

/**
 * @param options where the agent and Intel are, the root of processors, and the clock in Unix milliseconds. No variable of the process names
 *   others: another agent would be told what is sealed
 * @throws AttestationError where the first quote is of no such machine
 */
export async function createDstack({
  socket = SOCKET,
  intel = INTEL,
  root = INTEL_SGX_ROOT,
  now = Date.now,
} = {}): Promise<Machine> {
  const send = createPost({ timeoutMs: TIMEOUT_MS, maxConnections: 4, maxAnswerBytes: MAX_ANSWER_BYTES })

  /** @throws MachineError */
  async function ask<T>(method: string, request: object, schema: z.core.$ZodType<T>): Promise<T> {
    const sent = send(`unix:${socket}`, {}, JSON.stringify(request), `/${method}`)
    const { status, text } = await sent.catch(() => {
      throw new MachineError('agent-unreachable', method)
    })
    if (status !== 200) throw new MachineError('agent-refused', method)
    try {
      return z.parse(schema, JSON.parse(text))
    } catch {
      throw new MachineError('agent-unreadable', method)
    }
  }

  const quoteFor = (reportData: Uint8Array): Promise<AnsweredQuote> =>
    ask('GetQuote', { report_data: hexText(reportData) }, quoteSchema)

  const own = await quoteFor(new Uint8Array(64))
  const quote = readQuote(own.quote)
  const processor = await verifySigned(quote, { root, now: now() })
  const registers = await registersOf(quote, own.event_log)
  const measurement = await measurementOf('tdx', registers)
  const collateral = createCollateral(processor, quote.chain, { ...intel, now })

  const keyOf = async () => {
    const { key } = await ask(
      'GetKey',
      { path: 'confidential-trading/sealed-keys', purpose: 'sealing' },
      keySchema,
    )
    return hexToBytes(`0x${key}`)
  }
  const sealing = {
    seal: async (secret: Uint8Array<ArrayBuffer>) => lock(await keyOf(), secret),
    unseal: async (sealed: Uint8Array<ArrayBuffer>) => unlock(await keyOf(), sealed),
  }
  return {
    format: 'dstack',
    evidence: async (userData, nonce = NO_NONCE) =>
      encodeEvidence(await quoteFor(concatBytes(userData, nonce)), await collateral()),
    measurement: async () => measurement,
    ...((await providerOf(own, registers)) === SEALS_TO_REGISTERS && { sealing }),
  }
}

/** Who provides the machine's keys. @param registers of the quote, in whose log it is */
async function providerOf({ event_log }: AnsweredQuote, { keyProvider }: { keyProvider?: string }) {
  const event = event_log.find(({ name }) => name === 'key-provider')
  demand(event !== undefined && (await sha256(event.payload)) === keyProvider, 'log-differs')
  return providerSchema.parse(JSON.parse(new TextDecoder().decode(event.payload))).name
}
