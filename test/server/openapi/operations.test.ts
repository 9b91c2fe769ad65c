import { Ajv2020 } from 'ajv/dist/2020.js'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { describeApi, problemsOf } from '../../../scripts/openapi/document.js'
import { OPERATIONS } from '../../../scripts/openapi/operations.js'
import { EXAMPLES, nameOf } from '../../../scripts/openapi/schemas.js'
import { API_PATHS } from '../../../src/protocol/api.js'
import { PROBLEM_CODES, PROBLEMS } from '../../../src/server/http/problemCodes.js'
import { readVersion } from '../../../src/service/version.js'
import { buildApp } from '../../support/builtApp.js'
import { useChain } from '../../support/chain.js'
import { routesOf } from '../../support/routesOf.js'
import { SERVER_ENVIRONMENT } from '../../support/serverEnvironment.js'

const chain = useChain()
const named = OPERATIONS.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort()
const paths = [...new Set(OPERATIONS.map(({ path }) => path))]
const token = `Bearer ${SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN}`

const schemasOf = z.object({ components: z.object({ schemas: z.record(z.string(), z.unknown()) }) })
const document = describeApi('0.0.0')
const { schemas } = schemasOf.parse(document).components

/** Whether each object in this part of the document, and in what that refers to, is closed. */
function closings(part: unknown, seen = new Set<unknown>()): boolean[] {
  if (typeof part !== 'object' || part === null || seen.has(part)) return []
  seen.add(part)
  const { type, properties, additionalProperties, $ref } = Object(part)
  const own = type === 'object' && properties !== undefined ? [additionalProperties === false] : []
  const others = [schemas[String($ref).split('/').at(-1) ?? ''], ...Object.values(part)]
  return [...own, ...others.flatMap((each) => closings(each, seen))]
}

test('the document closes bodies, which the server parses strictly, and no answer, as answers may grow', () => {
  for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path))) {
    const { requestBody, responses } = Object(operation)
    expect(closings(requestBody)).not.toContain(false)
    expect(closings(responses)).toContain(false)
    expect(closings(responses)).not.toContain(true)
  }
})

describe('the examples', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajv.addFormat('date-time', (text) => z.iso.datetime().safeParse(text).success)
  ajv.addFormat('uuid', (text) => z.uuid().safeParse(text).success)
  ajv.addSchema({ components: { schemas } }, 'api')

  test.each(Object.entries(EXAMPLES))('%s is what its schema describes', (name, example) => {
    const validate = ajv.compile({ $ref: `api#/components/schemas/${name}` })
    validate(example)
    expect(validate.errors).toBeNull()
  })

  test('cover every body of a request, and every JSON body of an answer', () => {
    const bodies = OPERATIONS.flatMap(({ body, answers }) => [body, ...answers.map(({ content }) => content)])
    const names = bodies
      .flatMap((body) => (body instanceof z.core.$ZodType ? [nameOf(body)] : []))
      .filter((name) => name !== 'OpenApi')
    expect(names.length).toBeGreaterThan(20)
    const missing = names.filter((name) => !(name in EXAMPLES))
    expect(missing, 'add the example in scripts/openapi/schemas.ts').toEqual([])
  })
})

describe('the table of operations', () => {
  test('has the routes that the application has, no more and no fewer', async () => {
    const { app } = await buildApp({ chain: chain() })
    const registered = routesOf(app).flatMap(({ path, methods }) =>
      methods.map((method) => `${method} ${path}`),
    )
    expect(registered.sort(), 'each route needs its row in scripts/openapi/operations.ts').toEqual(named)
  })

  test('has the paths of API_PATHS in src/protocol/api.ts', () => {
    expect(API_PATHS.toSorted(), 'each path stands once in API_PATHS').toEqual(paths.toSorted())
  })

  test('has every method of a path: any other is 405, and a slash at the end 404', async () => {
    const { app } = await buildApp({ chain: chain() })
    for (const path of paths) {
      const methods = OPERATIONS.filter((operation) => operation.path === path).map(({ method }) => method)
      const allow = methods.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : ['POST']))
      const target = path.replace(/:\w+/, 'x')
      const response = await request(app).delete(target).set('Authorization', token)
      expect([path, response.status, response.headers.allow]).toEqual([path, 405, allow.join(', ')])
      const slashed = await request(app)[methods[0] ?? 'get'](`${target}/`).set('Authorization', token)
      expect([path, slashed.status, slashed.body.code]).toEqual([path, 404, 'not-found'])
    }
  })

  test('has every code of the registry but those of no operation of this server', () => {
    const ofTheHost = ['order-under-way', 'run-too-late', 'too-many-runs']
    const codes = new Set(OPERATIONS.flatMap((operation) => [...problemsOf(operation).values()].flat()))
    const unused = PROBLEM_CODES.filter((code) => !codes.has(code))
    const remedy = 'name the code in `problems` of each row of operations.ts that answers it'
    expect(unused, remedy).toEqual(['method-not-allowed', ...ofTheHost])
  })
})

/** The directives of a policy by name. */
function policyOf({ headers }: request.Response): Map<string, string> {
  const directives = String(headers['content-security-policy']).split(';')
  return new Map(directives.map((each) => [each.split(' ')[0] ?? '', each.split(' ').slice(1).join(' ')]))
}

describe('the pages', () => {
  async function reader() {
    const { app } = await buildApp({ chain: chain() })
    return (path: string) => request(app).get(path)
  }

  test('/errors has a section where the type of each problem leads, and escapes what the registry says', async () => {
    const get = await reader()
    const { text } = await get('/errors')
    for (const code of PROBLEM_CODES) {
      expect(text).toContain(`<section id="${code}">`)
      expect(text).toContain(`${PROBLEMS[code].status} ${PROBLEMS[code].title.replaceAll('"', '&#34;')}`)
    }
    expect(text).toContain('&#34;Authorization: Bearer &#60;RELAY_AUTH_TOKEN&#62;&#34;')
    expect((await get('/orders/0x')).body.type).toBe('/errors#invalid-parameter')
  })

  test('/openapi.json is the document of this version', async () => {
    const get = await reader()
    const { body, type } = await get('/openapi.json')
    expect(type).toBe('application/json')
    expect(body).toEqual(JSON.parse(JSON.stringify(describeApi(readVersion()))))
    expect(body.openapi).toMatch(/^3\.1\./)
  })

  test('/docs and /errors run and load nothing but what this server has, and have nothing inline, which their policy forbids', async () => {
    const get = await reader()
    for (const path of ['/docs', '/errors']) {
      const page = await get(path)
      expect(page.type).toBe('text/html')
      const policy = policyOf(page)
      for (const name of ['default-src', 'frame-ancestors']) expect(policy.get(name)).toBe("'none'")
      for (const name of ['script-src', 'style-src', 'connect-src']) expect(policy.get(name)).toBe("'self'")
      expect(page.headers['content-security-policy']).not.toContain('unsafe')
      for (const [tag] of page.text.matchAll(/<script[^>]*>[^<]*/g))
        expect(tag).toMatch(/^<script src="[^"]+">$/)
      expect(page.text).not.toMatch(/<style|\sstyle=|\son\w+=/)
    }
    for (const path of ['/docs/package.json', '/docs/index.html', '/docs/..%2fpackage.json'])
      expect((await get(path)).body.code).toBe('not-found')
  })
})
