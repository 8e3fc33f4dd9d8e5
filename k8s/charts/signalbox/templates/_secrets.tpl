{{/* The one place that knows which secret becomes which variable or file, for services and migrations alike. */}}

{{/* A secret that is needed: (dict "plan" PLAN "given" {existingSecret} "at" KEY "why" TEXT). */}}
{{- define "signalbox.requireSecret" -}}
{{- if not .given.existingSecret.name -}}
  {{- include "signalbox.refuse" (list .plan (printf "%s.existingSecret.name: is needed %s" .at .why)) -}}
{{- end -}}
{{- end -}}

{{- define "signalbox.checkSecrets" -}}
{{- $values := .root.Values -}}
{{- $random := "a Secret whose key holds at least 32 random characters (openssl rand -hex 32)" -}}
{{- include "signalbox.requireSecret" (dict "plan" .plan "given" $values.adminKey "at" "adminKey" "why" (printf "for the roles to know each other, and to make the first API key: %s" $random)) -}}
{{- if and $values.cache.redis.url (include "signalbox.caches" .root) -}}
  {{- include "signalbox.requireSecret" (dict "plan" .plan "given" $values.cacheSecret "at" "cacheSecret" "why" (printf "with cache.redis.url, since answers in Redis are encrypted: %s" $random)) -}}
{{- end -}}
{{- if and $values.postgresql.url (not $values.postgresql.withoutPassword) -}}
  {{- include "signalbox.requireSecret" (dict "plan" .plan "given" $values.postgresql.password "at" "postgresql.password" "why" "with postgresql.url; set postgresql.withoutPassword where the server asks for none") -}}
{{- end -}}
{{- if and $values.postgresql.withoutPassword $values.postgresql.password.existingSecret.name -}}
  {{- include "signalbox.refuse" (list .plan "postgresql.withoutPassword: there is a postgresql.password.existingSecret.name, too; take either out") -}}
{{- end -}}
{{- if and $values.batch.postgresql.url (not $values.postgresql.withoutPassword) (not (include "signalbox.batchPostgresql" .root | fromJson).password.existingSecret.name) -}}
  {{- include "signalbox.requireSecret" (dict "plan" .plan "given" $values.batch.postgresql.password "at" "batch.postgresql.password" "why" "with batch.postgresql.url; set postgresql.withoutPassword where the server asks for none") -}}
{{- end -}}
{{- $stores := dict "redis" $values.redis "cache.redis" $values.cache.redis "clickhouse" $values.clickhouse "nats" $values.nats -}}
{{- range $at, $store := $stores -}}
  {{- if $store.user -}}
    {{- include "signalbox.requireSecret" (dict "plan" $.plan "given" $store.password "at" (printf "%s.password" $at) "why" (printf "with %s.user" $at)) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* A variable out of a secret, where one is given: (list NAME {existingSecret}). */}}
{{- define "signalbox.secretVariable" -}}
{{- with (last .).existingSecret }}{{ if .name }}
- name: {{ first $ | quote }}
  valueFrom: {secretKeyRef: {name: {{ .name | quote }}, key: {{ .key | quote }}}}
{{- end }}{{ end -}}
{{- end -}}

{{/* Where the role batch keeps its jobs, as JSON: in the ledger's PostgreSQL, but for what is given for it alone. */}}
{{- define "signalbox.batchPostgresql" -}}
{{- $shared := .Values.postgresql -}}
{{- $own := .Values.batch.postgresql -}}
{{- dict
  "url" (default $shared.url $own.url)
  "password" (ternary $own.password $shared.password (ne $own.password.existingSecret.name ""))
  "ca" (ternary $own.ca $shared.ca (ne (include "signalbox.hasCa" $own) ""))
  | toJson -}}
{{- end -}}

{{/* The variables of a container: (dict "root" $ "needs" LIST "extraEnv" LIST). It gets what it needs and no more. */}}
{{- define "signalbox.env" -}}
{{- $values := .root.Values -}}
{{- $jobs := include "signalbox.batchPostgresql" .root | fromJson -}}
- name: SIGNALBOX_DATA_DIR
  value: /var/lib/signalbox
{{- if has "adminKey" .needs }}{{ include "signalbox.secretVariable" (list "SIGNALBOX_ADMIN_KEY" $values.adminKey) }}{{ end -}}
{{- if and (has "nats" .needs) $values.nats.servers }}{{ include "signalbox.secretVariable" (list "NATS_PASSWORD" $values.nats.password) }}{{ end -}}
{{- if and (has "postgresql" .needs) $values.postgresql.url }}{{ include "signalbox.secretVariable" (list "POSTGRES_PASSWORD" $values.postgresql.password) }}{{ end -}}
{{- if and (has "batchPostgresql" .needs) $jobs.url }}{{ include "signalbox.secretVariable" (list "BATCH_POSTGRES_PASSWORD" $jobs.password) }}{{ end -}}
{{- if and (has "clickhouse" .needs) $values.clickhouse.url }}{{ include "signalbox.secretVariable" (list "CLICKHOUSE_PASSWORD" $values.clickhouse.password) }}{{ end -}}
{{- if and (has "redis" .needs) $values.redis.url }}{{ include "signalbox.secretVariable" (list "REDIS_PASSWORD" $values.redis.password) }}{{ end -}}
{{- if has "cacheRedis" .needs -}}
  {{- include "signalbox.secretVariable" (list "SIGNALBOX_CACHE_SECRET" $values.cacheSecret) -}}
  {{- if $values.cache.redis.url }}{{ include "signalbox.secretVariable" (list "CACHE_REDIS_PASSWORD" $values.cache.redis.password) }}{{ end -}}
{{- end -}}
{{- if has "vendors" .needs }}{{ range $values.vendorKeys }}{{ include "signalbox.secretVariable" (list .env .) }}{{ end }}{{ end -}}
{{- with .extraEnv }}
{{ toYaml . }}
{{- end -}}
{{- end -}}

{{/* Files out of secrets and ConfigMaps, as YAML: a list of {name, path, source}. (dict "root" $ "needs" LIST) */}}
{{- define "signalbox.files" -}}
{{- $values := .root.Values -}}
{{- if and (has "nats" .needs) $values.nats.servers $values.nats.credentials.existingSecret.name }}
- name: nats-credentials
  path: /etc/signalbox-nats
  source: {{ include "signalbox.secretFile" (dict "given" $values.nats.credentials "path" "nats.creds") }}
{{- end }}
{{- $jobs := include "signalbox.batchPostgresql" .root | fromJson }}
{{- range $need, $store := dict "postgresql" $values.postgresql "batchPostgresql" $jobs "redis" $values.redis "cacheRedis" $values.cache.redis "clickhouse" $values.clickhouse "nats" $values.nats }}
{{- if and (has $need $.needs) (or $store.url $store.servers) (include "signalbox.hasCa" $store) }}
- name: {{ kebabcase $need }}-ca
  path: {{ include "signalbox.caFolder" $need }}
  source: {{ include "signalbox.secretFile" (dict "given" $store.ca "path" "ca.crt") }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The source of a volume with one file: (dict "given" {existingSecret or existingConfigMap} "path" NAME). */}}
{{- define "signalbox.secretFile" -}}
{{- $path := .path -}}
{{- if dig "existingSecret" "name" "" .given -}}
  {{- with .given.existingSecret -}}
    {{- dict "secret" (dict "secretName" .name "defaultMode" 0440 "items" (list (dict "key" (default $path .key) "path" $path))) | toJson -}}
  {{- end -}}
{{- else -}}
  {{- with .given.existingConfigMap -}}
    {{- dict "configMap" (dict "name" .name "items" (list (dict "key" (default $path .key) "path" $path))) | toJson -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{- define "signalbox.hasCa" -}}
{{- if or (dig "ca" "existingSecret" "name" "" .) (dig "ca" "existingConfigMap" "name" "" .) }}true{{ end -}}
{{- end -}}

{{- define "signalbox.caFolder" -}}
/etc/signalbox-ca/{{ kebabcase . }}
{{- end -}}
