// The log of what dstack started: RTMR3 is the hash of its events, one upon the other.
// https://github.com/Dstack-TEE/dstack/blob/master/docs/attestation-tdx.md
import type { Bytes } from '../../protocol/hex.js'
import { concat, hexText, sha256 } from '../bytes.js'
import { type Cbor, isBytes, isList } from '../cbor.js'
import { demand } from '../errors.js'

/** `DSTACK_RUNTIME_EVENT_TYPE`, as a number and as bytes, little-endian. */
const TYPE = 0x08000001
const TYPE_BYTES = [0x01, 0x00, 0x00, 0x08]
/** A colon would let one digest belong to two names: it stands between name and payload. */
const NAME = /^[\w.-]{1,64}$/
/** The events before it are those of the start; the program may add others behind it. */
const READY = 'system-ready'

export interface LoggedEvent {
  readonly name: string
  readonly payload: Bytes
  /** Version 2 hashes canonical JSON. */
  readonly version: 1 | 2
}

/** @param item a list of `[name, payload]`, and of `[name, payload, 2]` for events of version 2 */
export function readEvents(item: Cbor | undefined): LoggedEvent[] {
  demand(isList(item))
  return item.map((event) => {
    demand(isList(event))
    const [name, payload, version = 1, ...others] = event
    demand(typeof name === 'string' && NAME.test(name) && isBytes(payload) && others.length === 0)
    demand(version === 2 || (version === 1 && event.length === 2))
    return { name, payload, version }
  })
}

/**
 * What the machine was started with. Digests that a log brings along say nothing of its payloads: each is computed here.
 * @param register RTMR3 in hex
 * @returns the hash of `app-compose.json`, and the SHA-256 of the payload that names the key provider, in hex
 * @throws AttestationError `log-differs` where it is not the log of this register, or an event is not there once
 */
export async function replay(events: readonly LoggedEvent[], register: string) {
  let value: Bytes = new Uint8Array(48)
  for (const event of events) value = await sha384(concat(value, await digestOf(event)))
  demand(hexText(value) === register, 'log-differs')
  const composeHash = payloadOf(events, 'compose-hash')
  demand(composeHash.length === 32, 'log-differs')
  return {
    composeHash: hexText(composeHash),
    keyProvider: await sha256(payloadOf(events, 'key-provider')),
  }
}

function payloadOf(events: readonly LoggedEvent[], wanted: string): Bytes {
  const ready = events.findIndex(({ name }) => name === READY)
  const [event, ...twins] = events.filter(({ name }) => name === wanted)
  demand(event !== undefined && twins.length === 0 && events.indexOf(event) < ready, 'log-differs')
  return event.payload
}

function digestOf({ name, payload, version }: LoggedEvent): Promise<Bytes> {
  const text = (value: string) => new TextEncoder().encode(value)
  if (version === 2) return sha384(text(`{"name":"${name}","payload":"${hexText(payload)}","type":${TYPE}}`))
  return sha384(concat(Uint8Array.from(TYPE_BYTES), text(`:${name}:`), payload))
}

async function sha384(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-384', bytes))
}
