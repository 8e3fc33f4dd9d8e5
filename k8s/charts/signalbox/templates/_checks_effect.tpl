{{/* Values that nothing would come of: who gives them believes in something that is not there. */}}

{{/* What counts only where something else is given, as a JSON list of {at, keys, counts, unless}. */}}
{{- define "signalbox.conditions" -}}
{{- $values := .Values -}}
{{- $secret := "password.existingSecret.name" -}}
{{- $jobs := include "signalbox.batchPostgresql" . | fromJson -}}
{{- $database := ternary (list) (list "database") (eq $values.clickhouse.database "signalbox") -}}
{{- list
  (dict "at" "postgresql" "keys" (list $secret "withoutPassword") "counts" $jobs.url "unless" "postgresql.url")
  (dict "at" "batch.postgresql" "keys" (list $secret) "counts" $jobs.url "unless" "batch.postgresql.url or postgresql.url")
  (dict "at" "redis" "keys" (list "user" $secret) "counts" $values.redis.url "unless" "redis.url")
  (dict "at" "cache.redis" "keys" (list "user" $secret) "counts" $values.cache.redis.url "unless" "cache.redis.url")
  (dict "at" "cacheSecret" "keys" (list "existingSecret.name") "counts" $values.cache.redis.url "unless" "cache.redis.url")
  (dict "at" "clickhouse" "keys" (concat $database (list "user" $secret "cluster" "retentionDays")) "counts" $values.clickhouse.url "unless" "clickhouse.url")
  (dict "at" "nats" "keys" (list "user" $secret "credentials.existingSecret.name" "replicas" "maxBytes") "counts" $values.nats.servers "unless" "nats.servers")
  | toJson -}}
{{- end -}}

{{- define "signalbox.checkEffect" -}}
{{- $values := .root.Values -}}
{{- range $rule := include "signalbox.conditions" .root | fromJsonArray -}}
  {{- if not .counts -}}
    {{- range $key := .keys -}}
      {{- $value := $values -}}
      {{- range splitList "." (printf "%s.%s" $rule.at $key) }}{{ $value = get $value . }}{{ end -}}
      {{- if $value -}}
        {{- include "signalbox.refuse" (list $.plan (printf "%s.%s: has no effect without %s" $rule.at $key $rule.unless)) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- if and $values.sqlite.retentionDays $values.clickhouse.url -}}
  {{- include "signalbox.refuse" (list .plan "sqlite.retentionDays: has no effect with clickhouse.url; give clickhouse.retentionDays") -}}
{{- end -}}
{{- if not (hasKey .plan.owners "batch") -}}
  {{- range $key, $given := dict "url" $values.batch.postgresql.url "password.existingSecret.name" $values.batch.postgresql.password.existingSecret.name -}}
    {{- if $given -}}
      {{- include "signalbox.refuse" (list $.plan (printf "batch.postgresql.%s: has no effect, since no deployment has the role batch" $key)) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- end -}}
