import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { describeApi } from '../../../scripts/openapi/document.js'
import { PROBLEM_CODES, PROBLEMS } from '../../../src/server/http/problemCodes.js'
import { readVersion } from '../../../src/service/version.js'
import { buildApp } from '../../support/builtApp.js'
import { useChain } from '../../support/chain.js'

const chain = useChain()

async function get(path: string, headers: Record<string, string> = {}) {
  const { app } = await buildApp({ chain: chain() })
  return request(app).get(path).set(headers)
}

/** The directives of a policy by name. */
function policyOf({ headers }: request.Response): Map<string, string> {
  const directives = String(headers['content-security-policy']).split(';')
  return new Map(directives.map((each) => [each.split(' ')[0] ?? '', each.split(' ').slice(1).join(' ')]))
}

describe('GET /errors', () => {
  test('has a section where the type of each problem leads', async () => {
    const { type, text } = await get('/errors')
    expect(type).toBe('text/html')
    for (const code of PROBLEM_CODES) {
      expect(text).toContain(`<section id="${code}">`)
      expect(text).toContain(`${PROBLEMS[code].status} ${PROBLEMS[code].title.replaceAll('"', '&#34;')}`)
    }
    const problem = (await get('/orders/0x')).body
    expect(problem.type).toBe('/errors#invalid-parameter')
  })

  test('escapes what the registry says', async () => {
    const { text } = await get('/errors')
    expect(text).toContain('&#34;Authorization: Bearer &#60;RELAY_AUTH_TOKEN&#62;&#34;')
  })
})

describe('GET /openapi.json', () => {
  test('is the document of this version', async () => {
    const { body, type } = await get('/openapi.json')
    expect(type).toBe('application/json')
    expect(body).toEqual(JSON.parse(JSON.stringify(describeApi(readVersion()))))
    expect(body.openapi).toMatch(/^3\.1\./)
  })
})

describe.each(['/docs', '/errors'])('GET %s', (path) => {
  test('runs and loads nothing but what this server has', async () => {
    const page = await get(path)
    expect(page.type).toBe('text/html')
    const policy = policyOf(page)
    expect(policy.get('default-src')).toBe("'none'")
    for (const name of ['script-src', 'style-src', 'connect-src']) expect(policy.get(name)).toBe("'self'")
    expect(policy.get('frame-ancestors')).toBe("'none'")
    expect(page.headers['content-security-policy']).not.toContain('unsafe')
  })

  test('has nothing inline, which its policy forbids', async () => {
    const { text } = await get(path)
    for (const [tag] of text.matchAll(/<script[^>]*>[^<]*/g)) expect(tag).toMatch(/^<script src="[^"]+">$/)
    expect(text).not.toMatch(/<style|\sstyle=|\son\w+=/)
  })
})

describe('GET /docs/:file', () => {
  test('serves no other file of the package', async () => {
    for (const path of ['/docs/package.json', '/docs/index.html', '/docs/..%2fpackage.json']) {
      expect((await get(path)).body.code).toBe('not-found')
    }
  })
})
