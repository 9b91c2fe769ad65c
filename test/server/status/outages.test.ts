import type { RequestListener } from 'node:http'
import request from 'supertest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { SERVER_ACCOUNT, startStandIn } from '../../support/brokerStandIn.js'
import { buildApp } from '../../support/builtApp.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { type Fault, startFaultProxy } from '../../support/faultProxy.js'
import { ORG, setUpInstitution } from '../../support/institution.js'
import { startRawServer } from '../../support/rawServer.js'

const chain = useChain(setUpInstitution)

const paths = () => [
  `/wallet/${chain().account('alice')}`,
  `/org/${ORG}`,
  `/compliance/${chain().account('alice')}`,
]

async function standIn() {
  const started = await startStandIn()
  onTestFinished(() => started.stop())
  return started
}

describe('when the chain does not answer', () => {
  test.each<Fault>(['drop', 'hang', 'refuse'])(
    '(%s) its routes are unavailable, and nothing else',
    async (mode) => {
      const proxy = await startFaultProxy(chain().anvil.rpcUrl)
      const { app, log } = await buildApp({
        chain: chain(),
        rpcUrl: proxy.url,
        brokerUrl: (await standIn()).url,
        env: { RPC_TIMEOUT: mode === 'hang' ? '1500ms' : '30s' },
      })
      await request(app).get('/market').expect(200)
      proxy.fault = mode
      for (const path of paths()) {
        const response = await request(app).get(path)
        expect(response.status).toBe(503)
        expect(response.body.code).toBe('chain-unavailable')
        expect(response.headers['retry-after']).toMatch(/^\d+$/)
      }
      proxy.requests.length = 0
      await request(app).get('/health').expect(200)
      expect(proxy.requests).toEqual([])
      await request(app).get('/market').expect(200)
      await request(app).get('/market/clock').expect(200)
      expect(log.text()).not.toContain(proxy.url)

      proxy.fault = 'none'
      for (const path of paths()) {
        await eventually('the node to be asked again', async () => (await request(app).get(path)).ok)
      }
    },
  )

  test('nor when the contracts are not there', async () => {
    const { app } = await buildApp({
      chain: chain(),
      env: { INSTITUTION_REGISTRY_ADDRESS: `0x${'ab'.repeat(20)}` },
    })
    const response = await request(app).get(`/wallet/${chain().account('alice')}`)
    expect(response.status).toBe(503)
    expect(response.body.code).toBe('chain-unavailable')
  })
})

describe('when the broker does not answer', () => {
  const faulty: [string, RequestListener][] = [
    ['an error', (_req, res) => res.writeHead(500).end('oops')],
    ['JSON of another shape', (_req, res) => res.writeHead(200).end('{"is_open":"yes"}')],
    ['refused keys', (_req, res) => res.writeHead(401).end('{"message":"unauthorized."}')],
    ['silence', () => undefined],
  ]

  test.each(faulty)('but %s, market and clock are unavailable, and nothing else', async (_case, listener) => {
    const { app, log } = await buildApp({
      chain: chain(),
      brokerUrl: await startRawServer(listener),
      env: { ALPACA_TIMEOUT: '100ms' },
    })
    for (const path of ['/market', '/market/clock']) {
      const response = await request(app).get(path)
      expect(response.status).toBe(503)
      expect(response.type).toBe('application/problem+json')
      expect(response.body.code).toBe('market-unavailable')
      expect(Number(response.headers['retry-after'])).toBeGreaterThan(0)
      expect(response.text).not.toContain('127.0.0.1')
    }
    for (const path of [...paths(), '/health']) await request(app).get(path).expect(200)
    expect(log.text()).not.toContain(SERVER_ACCOUNT.secretKey)
  })
})
