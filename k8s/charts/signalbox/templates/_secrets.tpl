{{/* The one place that knows which secret becomes which variable or file, for the services and the migrations alike. */}}

{{/* A secret that is needed: (dict "secret" {name, key} "at" KEY "why" TEXT). */}}
{{- define "signalbox.checkSecret" -}}
{{- if not .secret.name -}}
  {{- fail (printf "%s.existingSecret.name: is needed %s" .at .why) -}}
{{- end -}}
{{- end -}}

{{- define "signalbox.checkSecrets" -}}
{{- $values := .root.Values -}}
{{- include "signalbox.checkSecret" (dict "secret" $values.adminKey.existingSecret "at" "adminKey" "why" "for the roles to know each other, and to make the first API key: a Secret with at least 32 random characters (openssl rand -hex 32)") -}}
{{- if and $values.cache.redis.url (ne (dig "cache" "enabled" true $values.config) false) -}}
  {{- include "signalbox.checkSecret" (dict "secret" $values.cacheSecret.existingSecret "at" "cacheSecret" "why" "with cache.redis.url, since answers in Redis are encrypted: a Secret with at least 32 random characters") -}}
{{- end -}}
{{- if and $values.postgresql.url (not $values.postgresql.withoutPassword) -}}
  {{- include "signalbox.checkSecret" (dict "secret" $values.postgresql.password.existingSecret "at" "postgresql.password" "why" "with postgresql.url; set postgresql.withoutPassword where the server asks for none") -}}
{{- end -}}
{{- range $at, $store := dict "redis" $values.redis "cache.redis" $values.cache.redis "clickhouse" $values.clickhouse "nats" $values.nats -}}
  {{- if $store.user -}}
    {{- include "signalbox.checkSecret" (dict "secret" $store.password.existingSecret "at" (printf "%s.password" $at) "why" (printf "with %s.user" $at)) -}}
  {{- end -}}
{{- end -}}
{{- if and $values.nats.password.existingSecret.name (not $values.nats.user) -}}
  {{- fail "nats.user: is needed with nats.password.existingSecret.name" -}}
{{- end -}}
{{- if and $values.nats.credentials.existingSecret.name $values.nats.user -}}
  {{- fail "nats.user: give either a user or nats.credentials.existingSecret, not both" -}}
{{- end -}}
{{- $urls := dict "postgresql.url" $values.postgresql.url "redis.url" $values.redis.url "cache.redis.url" $values.cache.redis.url "clickhouse.url" $values.clickhouse.url -}}
{{- range $index, $server := $values.nats.servers }}{{ $_ := set $urls (printf "nats.servers[%d]" $index) $server }}{{ end -}}
{{- range $at, $url := $urls -}}
  {{- if regexMatch "^[^/]*//[^/@]*:[^/@]*@" $url -}}
    {{- fail (printf "%s: holds a password, which everybody could read in the ConfigMap; give it by existingSecret" $at) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* A variable out of a secret: (dict "name" NAME "secret" {name, key}). */}}
{{- define "signalbox.secretVariable" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ .secret.name }}
      key: {{ .secret.key }}
{{ end -}}

{{/* The variables of a container with some roles: (dict "root" $ "roles" LIST "extraEnv" LIST). Each gets what its roles need
and no more. */}}
{{- define "signalbox.env" -}}
{{- $values := .root.Values -}}
- name: SIGNALBOX_DATA_DIR
  value: /var/lib/signalbox
{{ include "signalbox.secretVariable" (dict "name" "SIGNALBOX_ADMIN_KEY" "secret" $values.adminKey.existingSecret) -}}
{{- if and $values.nats.servers $values.nats.password.existingSecret.name -}}
{{ include "signalbox.secretVariable" (dict "name" "NATS_PASSWORD" "secret" $values.nats.password.existingSecret) -}}
{{- end -}}
{{- if and (has "budget" .roles) $values.postgresql.url $values.postgresql.password.existingSecret.name -}}
{{ include "signalbox.secretVariable" (dict "name" "POSTGRES_PASSWORD" "secret" $values.postgresql.password.existingSecret) -}}
{{- end -}}
{{- if and (has "ingest" .roles) $values.clickhouse.url $values.clickhouse.password.existingSecret.name -}}
{{ include "signalbox.secretVariable" (dict "name" "CLICKHOUSE_PASSWORD" "secret" $values.clickhouse.password.existingSecret) -}}
{{- end -}}
{{- if and (or (has "budget" .roles) (has "adapter" .roles)) $values.redis.url $values.redis.password.existingSecret.name -}}
{{ include "signalbox.secretVariable" (dict "name" "REDIS_PASSWORD" "secret" $values.redis.password.existingSecret) -}}
{{- end -}}
{{- if has "cache" .roles -}}
{{- if $values.cacheSecret.existingSecret.name -}}
{{ include "signalbox.secretVariable" (dict "name" "SIGNALBOX_CACHE_SECRET" "secret" $values.cacheSecret.existingSecret) -}}
{{- end -}}
{{- if and $values.cache.redis.url $values.cache.redis.password.existingSecret.name -}}
{{ include "signalbox.secretVariable" (dict "name" "CACHE_REDIS_PASSWORD" "secret" $values.cache.redis.password.existingSecret) -}}
{{- end -}}
{{- end -}}
{{- if has "adapter" .roles -}}
{{- range $values.vendorKeys -}}
{{ include "signalbox.secretVariable" (dict "name" .env "secret" .existingSecret) -}}
{{- end -}}
{{- end -}}
{{- with .extraEnv }}
{{- toYaml . }}
{{ end -}}
{{- end -}}

{{/* Files out of secrets and ConfigMaps, as YAML: a list of {name, path, source}, for volumes and mounts. */}}
{{- define "signalbox.files" -}}
{{- $values := .Values -}}
{{- with $values.nats.credentials.existingSecret }}
{{- if and .name $values.nats.servers }}
- name: nats-credentials
  path: /etc/signalbox-nats
  source: {secret: {secretName: {{ .name }}, defaultMode: 0440, items: [{key: {{ .key }}, path: nats.creds}]}}
{{- end }}
{{- end }}
{{- range $name, $store := dict "postgresql" $values.postgresql "redis" $values.redis "cache-redis" $values.cache.redis "nats" $values.nats }}
{{- if and (or $store.url $store.servers) (include "signalbox.hasCa" $store.ca) }}
- name: ca-{{ $name }}
  path: /etc/signalbox-ca/{{ $name }}
  {{- with $store.ca.existingSecret }}
  source: {secret: {secretName: {{ .name }}, defaultMode: 0440, items: [{key: {{ .key | default "ca.crt" }}, path: ca.crt}]}}
  {{- else }}
  {{- with $store.ca.existingConfigMap }}
  source: {configMap: {name: {{ .name }}, items: [{key: {{ .key | default "ca.crt" }}, path: ca.crt}]}}
  {{- end }}
  {{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "signalbox.hasCa" -}}
{{- if or (dig "existingSecret" "name" "" .) (dig "existingConfigMap" "name" "" .) }}true{{ end -}}
{{- end -}}
