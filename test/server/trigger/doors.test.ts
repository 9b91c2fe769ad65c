// Two enclaves during an upgrade: what the server sends goes to the one whose signer is the chain's.
import type { ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import { ChainUnavailableError } from '../../../src/chain/errors.js'
import { createDoor } from '../../../src/server/trigger/door.js'
import { Secret } from '../../../src/service/secret.js'
import { CLOSED_URL, startRawServer } from '../../support/rawServer.js'

const FORMER = `0x${'aa'.repeat(20)}` as const
const NEXT = `0x${'bb'.repeat(20)}` as const

const enclaveOf = (signer: string) => (res: ServerResponse) =>
  res.end(JSON.stringify({ status: 'ok', signer }))

async function setUp(...answers: ((res: ServerResponse) => void)[]) {
  const urls = await Promise.all(answers.map((answer) => startRawServer((_req, res) => answer(res))))
  const chain: { signer: `0x${string}` } = { signer: FORMER }
  const door = () => createDoor(new Secret(urls), async () => chain)
  return { urls, chain, doorUrl: () => door().url(), fault: () => door().fault() }
}

it('the enclave that the chain has is chosen, and the other one from its block on', async () => {
  const { urls, chain, doorUrl } = await setUp(enclaveOf(FORMER), enclaveOf(NEXT))
  expect(await doorUrl()).toBe(urls[0])
  chain.signer = NEXT
  expect(await doorUrl()).toBe(urls[1])
})

it('an enclave that hangs or has no keys yet holds up nobody', async () => {
  const { urls, doorUrl } = await setUp(() => undefined, enclaveOf(FORMER))
  expect(await doorUrl()).toBe(urls[1])
  const waiting = await setUp((res) => res.end('{"status":"ok","keys":"awaited"}'), enclaveOf(FORMER))
  expect(await waiting.doorUrl()).toBe(waiting.urls[1])
})

it('no run is sent where neither of two enclaves is in force', async () => {
  const { doorUrl } = await setUp(enclaveOf(NEXT), enclaveOf(NEXT))
  await expect(doorUrl()).rejects.toThrow()
  const gone = new Secret([CLOSED_URL, CLOSED_URL])
  await expect(createDoor(gone, async () => ({ signer: FORMER })).url()).rejects.toThrow()
})

it('the enclave in force counts among several; without one, keys are awaited where all answer and one waits for them', async () => {
  const awaiting = (res: ServerResponse) => res.end('{"status":"ok","keys":"awaited"}')
  const gone = (res: ServerResponse) => res.destroy()
  const proxy = (res: ServerResponse) => res.writeHead(502).end('<html>')
  const unreachable = 'enclave-host-unreachable'
  for (const [answers, fault] of [
    [[awaiting], 'enclave-keys-awaited'],
    [[gone], unreachable],
    [[proxy], unreachable],
    [[awaiting, enclaveOf(FORMER)], null],
    [[awaiting, enclaveOf(NEXT)], 'enclave-keys-awaited'],
    // The one in force is down, and the next one has not begun.
    [[awaiting, gone], unreachable],
    [[enclaveOf(NEXT), enclaveOf(NEXT)], unreachable],
  ] as const) {
    expect(await (await setUp(...answers)).fault()).toBe(fault)
  }
})

it('while no node answers, the chain is at fault and none of several enclaves', async () => {
  const { urls } = await setUp(enclaveOf(FORMER), enclaveOf(NEXT))
  const isDown = new ChainUnavailableError(1)
  await expect(createDoor(new Secret(urls), () => Promise.reject(isDown)).fault()).rejects.toBe(isDown)
})
