{{/* Addresses keep to the rules of `signalbox check-config`. A message never repeats one, since it may hold a password. */}}

{{- define "signalbox.checkUrls" -}}
{{- $values := .root.Values -}}
{{- $host := `(\[[0-9A-Fa-f:.]+\]|[^][:/?#@\s]+)(:[0-9]+)?` -}}
{{- $http := printf "^https?://%s(/[^?#]*)?$" $host -}}
{{- $redis := printf "^rediss?://%s(/[0-9]*)?$" $host -}}
{{- $postgres := printf `^postgres(ql)?://[^:/?#@\s]+@%s/[^/?#]+(\?[^#]*)?$` $host -}}
{{- $named := "with user and database and without a password, as in postgres://signalbox@postgres:5432/signalbox" -}}
{{- $rules := list
  (dict "at" "postgresql.url" "url" $values.postgresql.url "form" $postgres "right" $named)
  (dict "at" "batch.postgresql.url" "url" $values.batch.postgresql.url "form" $postgres "right" $named)
  (dict "at" "redis.url" "url" $values.redis.url "form" $redis "right" "without user and password, as in redis://redis:6379; give redis.user and redis.password.existingSecret")
  (dict "at" "cache.redis.url" "url" $values.cache.redis.url "form" $redis "right" "without user and password, as in redis://redis:6379; give cache.redis.user and cache.redis.password.existingSecret")
  (dict "at" "clickhouse.url" "url" $values.clickhouse.url "form" $http "right" "without user, password and query, as in https://clickhouse:8443; give clickhouse.user and clickhouse.password.existingSecret")
  (dict "at" "telemetry.otlpEndpoint" "url" $values.telemetry.otlpEndpoint "form" (printf "^https?://%s/?$" $host) "right" "without user, path and query, as in http://otel-collector:4317") -}}
{{- range $index, $server := $values.nats.servers -}}
  {{- $rules = append $rules (dict "at" (printf "nats.servers[%d]" $index) "url" $server "form" (printf "^(nats|tls)://%s/?$" $host) "right" "without user, token and path, as in nats://nats:4222; give nats.credentials.existingSecret, or nats.user and nats.password.existingSecret") -}}
{{- end -}}
{{- range $rules }}{{ if .url -}}
  {{- $authority := regexReplaceAll "^[A-Za-z]+://" .url "" | regexFind "^[^/?#]*" -}}
  {{- $port := regexFind ":[0-9]+$" $authority | trimPrefix ":" -}}
  {{- if or (regexMatch "^[^/]*//[^/]*:[^/]*@" .url) (and (hasSuffix "postgresql.url" .at) (regexMatch "[?].*password" .url)) -}}
    {{- include "signalbox.refuse" (list $.plan (printf "%s: holds a password, which everybody could read in the ConfigMap; give it by existingSecret" .at)) -}}
  {{- else if not (regexMatch .form .url) -}}
    {{- include "signalbox.refuse" (list $.plan (printf "%s: is not an address %s" .at .right)) -}}
  {{- else if and $port (or (gt (len $port) 5) (eq ($port | float64 | int) 0) (gt ($port | float64 | int) 65535)) -}}
    {{- include "signalbox.refuse" (list $.plan (printf "%s: has a port that is not from 1 to 65535" .at)) -}}
  {{- end -}}
{{- end }}{{ end -}}
{{- include "signalbox.checkPostgresOptions" (dict "plan" .plan "at" "postgresql" "store" $values.postgresql) -}}
{{- include "signalbox.checkPostgresOptions" (dict "plan" .plan "at" "batch.postgresql" "store" $values.batch.postgresql) -}}
{{- include "signalbox.checkCas" . -}}
{{- end -}}

{{/* What stands behind the `?`: the driver ignores what it does not know, as a slip in `sslmode`. (dict "plan" PLAN "at" KEY
"store" VALUES) */}}
{{- define "signalbox.checkPostgresOptions" -}}
{{- $known := list "sslmode" "sslrootcert" "sslcert" "sslkey" "application_name" "options" "host" "statement-cache-capacity" -}}
{{- $query := regexFind "[?].*$" .store.url | trimPrefix "?" -}}
{{- range splitList "&" $query | compact -}}
  {{- $option := splitList "=" . | first -}}
  {{- if not (has $option $known) -}}
    {{- include "signalbox.refuse" (list $.plan (printf "%s.url: has an option that means nothing to it; known are %s" $.at (join ", " $known))) -}}
  {{- else if and (eq $option "sslmode") (not (regexMatch "(?i)=(disable|allow|prefer|require|verify-ca|verify-full)$" .)) -}}
    {{- include "signalbox.refuse" (list $.plan (printf "%s.url: sslmode is one of disable, allow, prefer, require, verify-ca and verify-full" $.at)) -}}
  {{- else if and (eq $option "sslrootcert") (include "signalbox.hasCa" $.store) -}}
    {{- include "signalbox.refuse" (list $.plan (printf "%s.url: has an sslrootcert, which %s.ca gives; take either out" $.at $.at)) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* Certificates to trust are given once, and only where a server's is looked at. */}}
{{- define "signalbox.checkCas" -}}
{{- $values := .root.Values -}}
{{- $verifies := "(?i)[?&]sslmode=verify-(ca|full)(&|$)" -}}
{{- $encrypted := ne (len $values.nats.servers) 0 -}}
{{- range $values.nats.servers }}{{ if not (hasPrefix "tls:" .) }}{{ $encrypted = false }}{{ end }}{{ end -}}
{{- $jobs := include "signalbox.batchPostgresql" .root | fromJson -}}
{{- $rules := list
  (dict "at" "postgresql" "store" $values.postgresql "counts" (regexMatch $verifies $values.postgresql.url) "unless" "postgresql.url has sslmode=verify-full, or verify-ca")
  (dict "at" "batch.postgresql" "store" $values.batch.postgresql "counts" (regexMatch $verifies $jobs.url) "unless" "batch.postgresql.url has sslmode=verify-full, or verify-ca")
  (dict "at" "redis" "store" $values.redis "counts" (hasPrefix "rediss:" $values.redis.url) "unless" "redis.url begins with rediss")
  (dict "at" "cache.redis" "store" $values.cache.redis "counts" (hasPrefix "rediss:" $values.cache.redis.url) "unless" "cache.redis.url begins with rediss")
  (dict "at" "clickhouse" "store" $values.clickhouse "counts" (hasPrefix "https:" $values.clickhouse.url) "unless" "clickhouse.url begins with https")
  (dict "at" "nats" "store" $values.nats "counts" $encrypted "unless" "each of nats.servers begins with tls") -}}
{{- range $rules -}}
  {{- if and (include "signalbox.hasCa" .store) (not .counts) -}}
    {{- include "signalbox.refuse" (list $.plan (printf "%s.ca: has no effect unless %s" .at .unless)) -}}
  {{- end -}}
  {{- if and .store.ca.existingSecret .store.ca.existingConfigMap -}}
    {{- include "signalbox.refuse" (list $.plan (printf "%s.ca: give either existingSecret or existingConfigMap, not both" .at)) -}}
  {{- end -}}
{{- end -}}
{{- end -}}
