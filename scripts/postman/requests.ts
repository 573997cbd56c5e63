import { type Endpoint, type Operation, type Parameter, type SecurityScheme, schemesOf } from './openapi-types.ts';
import { scriptsOf } from './scripts.ts';
import { schemeVariable, type Step } from './story.ts';

export function requestOf({ method, path, operation, document }: Endpoint, step: Step): object {
  const { summary, description, parameters = [] } = operation;
  const body = bodyOf(operation, step);
  const schemes = schemesOf(operation);
  const { securitySchemes = {} } = document.components;
  const bearer = schemes.find((name) => securitySchemes[name]?.type === 'http');
  return {
    name: step.suffix === undefined ? summary : `${summary} (${step.suffix})`,
    event: scriptsOf(operation, step),
    request: {
      method,
      ...(description !== undefined && { description }),
      ...(bearer !== undefined && { auth: { type: 'bearer', bearer: [bearerToken(bearer)] } }),
      header: [
        ...schemes.flatMap((name) => keyHeader(name, securitySchemes[name])),
        ...(body === null ? [] : [{ key: 'Content-Type', value: 'application/json' }]),
        ...parametersIn('header', parameters).map(argumentOf),
      ],
      ...(body !== null && { body: { mode: 'raw', raw: body, options: { raw: { language: 'json' } } } }),
      url: urlOf(path, parameters),
    },
    response: [],
  };
}

function bearerToken(scheme: string): object {
  return { key: 'token', value: `{{${schemeVariable(scheme)}}}`, type: 'string' };
}

function keyHeader(name: string, scheme: SecurityScheme | undefined): object[] {
  if (scheme?.type !== 'apiKey') return [];
  return [{ key: scheme.name, value: `{{${schemeVariable(name)}}}`, description: scheme.description ?? '' }];
}

/**
 * Returns the request body as JSON text. The fields of the step replace fields in the example of the OpenAPI document.
 * Returns null if the operation takes no JSON body.
 */
function bodyOf({ requestBody }: Operation, { body = {} }: Step): string | null {
  const json = requestBody?.content['application/json'];
  if (json === undefined) return null;
  const [example] = Object.values(json.examples ?? {});
  const merged = { ...(typeof example?.value === 'object' ? example.value : {}), ...body };
  return JSON.stringify(merged, null, 2).replaceAll(/"\{(\{\{\w+\}\})\}"/g, '$1');
}

function urlOf(path: string, parameters: Parameter[]): object {
  const template = path.replaceAll(/\{(\w+)\}/g, ':$1');
  const query = parametersIn('query', parameters).map(argumentOf);
  const sent = query.filter(({ disabled }) => !disabled).map(({ key, value }) => `${key}=${value}`);
  return {
    raw: `{{baseUrl}}${template}${sent.length === 0 ? '' : `?${sent.join('&')}`}`,
    host: ['{{baseUrl}}'],
    path: template.split('/').slice(1),
    query,
    variable: parametersIn('path', parameters).map(argumentOf),
  };
}

function parametersIn(place: string, parameters: Parameter[]): Parameter[] {
  return parameters.filter((parameter) => parameter.in === place);
}

/**
 * Returns a parameter of a request in Postman's format. The value of a required parameter is the Postman variable with the name of the
 * parameter. An optional parameter has its example value and is disabled, so Postman does not send it.
 */
function argumentOf({ name, required = false, description = '', example = '' }: Parameter) {
  const value = required ? `{{${variableOf(name)}}}` : String(example);
  return { key: name, value, description, ...(!required && { disabled: true }) };
}

function variableOf(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
