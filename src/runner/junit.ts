import { escapeAttribute, escapeXml } from './xml.ts'

/** A finding as a test case. Texts may be remote: they are escaped here, redacted by `redact`. */
export interface JunitCase {
  readonly name: string
  readonly verdict: string
  readonly reason: string
  readonly seconds: number
  readonly hint?: string | undefined
  readonly said?: string | undefined
  readonly warnings?: readonly string[] | undefined
}

/**
 * JUnit XML of findings, as the common report actions read it (one suite; `failure` with the reason;
 * `system-out` with what the agent said). Well-formed for any text.
 * @param suite the suite's name
 * @param redact takes secrets out, before anything is escaped
 */
export function renderJunit(
  suite: string,
  cases: readonly JunitCase[],
  redact: (text: string) => string = (text) => text,
): string {
  const failures = cases.filter((one) => one.verdict !== 'passed').length
  const time = seconds(cases.reduce((sum, one) => sum + one.seconds, 0))
  const totals = `tests="${cases.length}" failures="${failures}" errors="0" skipped="0" time="${time}"`
  const attribute = (text: string): string => escapeAttribute(redact(text))
  const content = (text: string): string => escapeXml(redact(text))
  const lines = cases.flatMap((one) => [
    `    <testcase name="${attribute(one.name)}" classname="${attribute(suite)}" time="${seconds(one.seconds)}">`,
    ...(one.verdict === 'passed'
      ? []
      : [
          `      <failure type="${attribute(one.verdict)}" message="${attribute(one.reason)}">${content(
            [one.reason, one.hint ?? ''].filter((text) => text !== '').join('\n'),
          )}</failure>`,
        ]),
    ...block('system-out', one.said ?? '', content),
    ...block('system-err', (one.warnings ?? []).join('\n'), content),
    '    </testcase>',
  ])
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${attribute(suite)}" ${totals}>`,
    `  <testsuite name="${attribute(suite)}" ${totals}>`,
    ...lines,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function block(tag: string, text: string, content: (text: string) => string): string[] {
  return text === '' ? [] : [`      <${tag}>${content(text)}</${tag}>`]
}

function seconds(value: number): string {
  return (Number.isFinite(value) ? Math.max(0, value) : 0).toFixed(3)
}
