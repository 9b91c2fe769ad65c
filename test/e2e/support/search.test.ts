// The confidentiality test finds what it looks for: it would be worth nothing if it could not fail.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startRawServer } from '../../support/rawServer.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { amountCanary, findCanaries, keyCanary, textCanary } from './canaries.js'
import { createEvidence, type Evidence } from './evidence.js'
import { startRecorder } from './recorder.js'
import { watchFiles, watchProcesses } from './watch.js'

/** The watch looks again and again; how soon is the machine's affair. */
const SEEN = { timeout: 20_000 }

const key = Buffer.from(Array.from({ length: 32 }, (_, index) => (index * 37 + 200) % 256))
const CANARIES = [
  keyCanary('key', key),
  textCanary('symbol', 'AMZN'),
  textCanary('token', 'a-token+of/the_test'),
  amountCanary('amount', 17_654_321_987n, 6),
]
const symbol32 = Buffer.from('AMZN'.padEnd(32, '\0'))
const amount32 = Buffer.from(17_654_321_987n.toString(16).padStart(64, '0'), 'hex')
const noise = (length: number) => Buffer.from(Array.from({ length }, (_, index) => (index * 7919) % 251))

describe('the search', () => {
  it.each<[string, Buffer | string, string]>([
    ['its bytes', key, 'key'],
    ['hex', key.toString('hex'), 'key'],
    ['base64url', key.toString('base64url'), 'key'],
    ['base64 with two bytes before it', Buffer.concat([noise(2), key, noise(4)]).toString('base64'), 'key'],
    ['text', 'it was AMZN that was sold', 'symbol'],
    ['hex of bytes32', symbol32.toString('hex'), 'symbol'],
    ['base64 of bytes32', symbol32.toString('base64'), 'symbol'],
    ['base64', Buffer.from('Bearer a-token+of/the_test').toString('base64'), 'token'],
    ['digits', '{"maxSpend":"17654321987"}', 'amount'],
    ['a number', '17654.321987 USDC', 'amount'],
    ['a number with separators', '17,654.321987 USDC', 'amount'],
    ['hex of uint256', amount32.toString('hex'), 'amount'],
    ['base64 of JSON', Buffer.from('{"v":"17654321987"}').toString('base64'), 'amount'],
  ])('finds a secret as %s: %j', (_form, planted, name) => {
    const content = Buffer.concat([noise(1_000), Buffer.from(planted), noise(1_000)])
    expect(findCanaries(content, CANARIES)).toEqual([name])
  })
})

describe('the evidence that is searched', () => {
  const found = (evidence: Evidence, kind: Parameters<Evidence['search']>[0]) =>
    evidence.search(kind, CANARIES).map((find) => find.split(': ').at(-1))

  it('holds status line, headers and body of an answer, but for lists of symbols', async () => {
    const evidence = createEvidence()
    const recorder = await startRecorder(evidence)
    onTestFinished(() => recorder.stop())
    recorder.forwardTo(
      await startRawServer((req, res) => {
        if (req.url === '/header') res.setHeader('x-note', 'AMZN')
        res.statusMessage = req.url === '/status' ? '17654321987' : 'OK'
        res.end(req.url === '/body' ? 'a-token+of/the_test' : '{"symbols":["AMZN"]}')
      }),
    )
    const ask = async (path: string) => (await fetch(recorder.url + path)).text()
    expect(await ask('/health')).toBe('{"symbols":["AMZN"]}')
    expect(found(evidence, 'response')).toEqual([])
    await ask('/body')
    expect(found(evidence, 'response')).toEqual(['token'])
    await ask('/status')
    await ask('/header')
    expect(new Set(found(evidence, 'response'))).toEqual(new Set(['token', 'amount', 'symbol']))
  })

  it('holds every content and name that a file had for a moment', async () => {
    const directory = await temporaryDirectory()
    const evidence = createEvidence()
    const watch = watchFiles(evidence, directory)
    await mkdir(join(directory, 'below'))
    await writeFile(join(directory, 'below', 'file'), key)
    await writeFile(join(directory, 'AMZN.json'), '')
    await expect.poll(() => found(evidence, 'file'), SEEN).toEqual(expect.arrayContaining(['key', 'symbol']))
    await rm(join(directory, 'below'), { recursive: true })
    await writeFile(join(directory, 'AMZN.json'), '17654321987')
    await watch.stop()
    expect(new Set(found(evidence, 'file'))).toEqual(new Set(['key', 'symbol', 'amount']))
  })

  it('holds arguments and environment of the children that run', async () => {
    const evidence = createEvidence()
    const watch = watchProcesses(evidence, () => [process.pid])
    const child = spawn('sleep', ['17654321987'], { env: { KEY: `0x${key.toString('hex')}` } })
    await expect.poll(() => found(evidence, 'process'), SEEN).toContain('key')
    child.kill()
    await once(child, 'close')
    await watch.stop()
    expect(new Set(found(evidence, 'process'))).toEqual(new Set(['amount', 'key']))
  })
})
