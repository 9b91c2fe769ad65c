import { createHmac, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  claimedRunMessage,
  isRunMessageSigned,
  MAX_AGE_SECONDS,
  type RunMessageKind,
  signRunMessage,
} from '../../src/protocol/runMessage.js'
import { RUN_SECRET } from '../support/serverEnvironment.js'

const runId = randomUUID()
const body = '{"outcome":"settled"}'
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 8).toString('base64')}`

function signed(kind: RunMessageKind = 'result', secondsAgo = 0, secret = RUN_SECRET) {
  return signRunMessage(secret, { kind, runId, body }, new Date(Date.now() - secondsAgo * 1_000))
}

function isTaken(headers: Readonly<Record<string, unknown>>, text = body, kind: RunMessageKind = 'result') {
  const claimed = claimedRunMessage(kind, headers)
  return claimed !== undefined && isRunMessageSigned(RUN_SECRET, claimed, text)
}

test('a signature is the one of Standard Webhooks', () => {
  const headers = signed()
  const key = Buffer.from(RUN_SECRET.slice('whsec_'.length), 'base64')
  const content = `result_${runId}.${headers['webhook-timestamp']}.${body}`
  expect(headers['webhook-id']).toBe(`result_${runId}`)
  expect(headers['webhook-signature']).toBe(
    `v1,${createHmac('sha256', key).update(content).digest('base64')}`,
  )
})

test.each<[string, Readonly<Record<string, unknown>>]>([
  ['by another key', signed('result', 0, OTHER_SECRET)],
  ['of the other kind', signed('job')],
  ['under another id', { ...signed(), 'webhook-id': `result_${randomUUID()}` }],
  [
    'under an id in other letters',
    signRunMessage(RUN_SECRET, { kind: 'result', runId: runId.toUpperCase(), body }),
  ],
  ['at another time', { ...signed(), 'webhook-timestamp': signed('result', 9)['webhook-timestamp'] }],
  ['at no time', { ...signed(), 'webhook-timestamp': 'now' }],
  [
    'of another version',
    { ...signed(), 'webhook-signature': signed()['webhook-signature'].replace('v1', 'v2') },
  ],
  ['without a value', { ...signed(), 'webhook-signature': 'v1' }],
  ['that is too old', signed('result', MAX_AGE_SECONDS + 2)],
  ['from the future', signed('result', -MAX_AGE_SECONDS - 2)],
  ['that is not there', {}],
])('a signature %s is not taken', (_what, headers) => {
  expect(isTaken(headers)).toBe(false)
})

test('a signature is of this body alone', () => {
  expect(isTaken(signed(), '{"outcome":"refunded"}')).toBe(false)
  expect(isTaken(signed(), '')).toBe(false)
})

test('a signature on a job may be old, but not from ahead of the host’s clock, which would work on after stopAt', () => {
  expect(isTaken(signed('job', MAX_AGE_SECONDS - 5), body, 'job')).toBe(true)
  expect(isTaken(signed('job', -60), body, 'job')).toBe(false)
  expect(isTaken(signed('result', -60))).toBe(true)
})
