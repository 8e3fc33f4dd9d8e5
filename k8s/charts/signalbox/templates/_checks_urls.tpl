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
  (dict "at" "telemetry.otlpEndpoint" "url" $values.telemetry.otlpEndpoint "form" $http "right" "without user and query, as in http://otel-collector:4317") -}}
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
{{- if and (include "signalbox.hasCa" $values.clickhouse) (not (hasPrefix "https:" $values.clickhouse.url)) -}}
  {{- include "signalbox.refuse" (list .plan "clickhouse.ca: has no effect unless clickhouse.url begins with https") -}}
{{- end -}}
{{- end -}}
